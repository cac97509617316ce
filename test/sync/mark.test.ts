import { describe, expect, it } from 'vitest';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

const statuses = (place: SyncPlace, target = 'a'): Map<string, string> =>
  new Map([...place.view(target).rows(FORM).values()].map((row) => [row.id, row.status]));

const patches = (place: SyncPlace): number => place.requests('PATCH', /^\/submissions\//);

const openSynced = async (options: SyncPlaceOptions): Promise<SyncPlace> => {
  const place = await SyncPlace.open(options);
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

describe('marking', () => {
  it('L7: marks each of 250 once; the rows show it, and another run asks nothing', async () => {
    const place = await openSynced({ submissions: 250 });
    expect(await place.mark()).toMatchObject({ marked: 250, refused: 0, waiting: 0 });
    expect(patches(place)).toBe(250);
    expect(new Set(statuses(place).values())).toEqual(new Set(['DONE']));
    const before = place.sandbox.requests.length;
    expect(await place.mark()).toMatchObject({ marked: 0, adopted: 0 });
    expect(place.sandbox.requests.length - before).toBeLessThanOrEqual(1);
    // And the pass after it finds nothing to change.
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
  });

  it('L2, L7: a full pass that reads while marking changes the statuses under it loses nothing', async () => {
    const place = await openSynced({ submissions: 450 });
    const [report, second] = await Promise.all([place.mark(), place.pass('full', { target: 'b' })]);
    expect([report.marked, second.outcome]).toEqual([450, 'ok']);
    expect(place.liveIds('b')).toEqual(place.sourceIds());
    await place.pass('full', { target: 'b' });
    expect(new Set(statuses(place, 'b').values())).toEqual(new Set(['DONE']));
  });

  it("L7: a colleague's change since the last pass wins, and the row follows it", async () => {
    const place = await openSynced({ submissions: 3 });
    const [first, second, third] = place.store.ids(FORM);
    place.store.setStatus(first!, 'PAID');
    place.store.setStatus(second!, 'ARCHIVED');
    expect(await place.mark()).toMatchObject({ marked: 1, adopted: 2 });
    expect(patches(place)).toBe(1);
    expect(place.store.get(first!)?.status).toBe('PAID');
    expect(Object.fromEntries(statuses(place))).toEqual({
      [first!]: 'PAID',
      [second!]: 'ARCHIVED',
      [third!]: 'DONE',
    });
  });

  it("L7: a colleague's change in the middle of a run wins too: statuses are read just before", async () => {
    const place = await openSynced({ submissions: 120 });
    let inBetween = 0;
    let most = 0;
    place.onRequest = ({ method, path }) => {
      if (!path.startsWith('/submissions/')) return;
      inBetween += method === 'PATCH' ? -1 : 1;
      most = Math.max(most, inBetween);
    };
    expect(await place.mark()).toMatchObject({ marked: 120 });
    // As many as requests may be in flight: none waits, already read, for the others of its group.
    expect(most).toBeLessThanOrEqual(4);
  });

  it.each([
    { fault: 'a 503', rule: { status: 503 } },
    { fault: 'a 429 that asks for a minute', rule: { status: 429, retryAfter: 60 } },
    { fault: 'a broken connection', rule: { dropConnection: true } },
  ])(
    "L7: after $fault the status is read again: a colleague's change meanwhile wins",
    async ({ rule }) => {
      const place = await openSynced({ submissions: 3 });
      const [first] = place.store.ids(FORM);
      place.sandbox.faults.add({ method: 'PATCH', path: `/submissions/${first}`, ...rule });
      let tries = 0;
      place.onRequest = ({ method, path }) => {
        if (method === 'PATCH' && path.includes(first!) && tries++ === 0) {
          place.store.setStatus(first!, 'PAID');
        }
      };
      expect(await place.mark()).toMatchObject({ marked: 2, adopted: 1 });
      expect(tries).toBe(1);
      expect(place.store.get(first!)?.status).toBe('PAID');
      expect(statuses(place).get(first!)).toBe('PAID');
    },
  );

  it('L7: only from MARK_FROM', async () => {
    const place = await SyncPlace.open();
    for (const status of ['NEW', 'IN_PROGRESS', 'PAID', 'REJECTED', 'ARCHIVED', 'ON_HOLD']) {
      place.submit({ status });
    }
    await place.pass('full');
    expect(await place.mark({ markFrom: ['NEW', 'IN_PROGRESS'] })).toMatchObject({ marked: 2 });
    expect([...statuses(place).values()].toSorted()).toEqual([
      'ARCHIVED',
      'DONE',
      'DONE',
      'ON_HOLD',
      'PAID',
      'REJECTED',
    ]);
  });

  it('L7: an answer to the PATCH that never arrives costs a repeat, and nothing else', async () => {
    const place = await openSynced({ submissions: 4 });
    place.sandbox.faults.add({ method: 'PATCH', status: 500, applied: true, times: 2 });
    place.sandbox.faults.add({ method: 'PATCH', dropConnection: true, applied: true, times: 1 });
    expect(await place.mark()).toMatchObject({ marked: 4 });
    expect(new Set(statuses(place).values())).toEqual(new Set(['DONE']));
  });

  it('L7: of PATCHes that failed for good, those that succeeded beside them are noted', async () => {
    const place = await openSynced({ submissions: 6 });
    const broken = place.store.ids(FORM)[2]!;
    const times = Number.POSITIVE_INFINITY;
    place.sandbox.faults.add({
      method: 'PATCH',
      path: `/submissions/${broken}`,
      status: 500,
      times,
    });
    await expect(place.mark()).rejects.toMatchObject({ code: 'FORMS_FAILED' });
    const done = [...statuses(place)].filter(([, status]) => status === 'DONE').map(([id]) => id);
    expect(done.toSorted()).toEqual(place.sourceIds().filter((id) => id !== broken));
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ marked: 1 });
  });
});

describe('what is not marked', () => {
  it('L6: what is listed as rejected waits', async () => {
    const place = await SyncPlace.open({ submissions: 2 });
    const odd = place.store.ids(FORM)[0]!;
    place.store.distort(odd, { createdAt: 'yesterday' });
    await place.pass('full');
    expect(await place.mark()).toMatchObject({ marked: 1 });
    expect(place.store.get(odd)?.status).toBe('NEW');
    place.store.distort(odd, undefined);
    await place.pass('full');
    expect(await place.mark()).toMatchObject({ marked: 1 });
  });

  it('L8: a submission that answers 404 is left for the next full pass', async () => {
    const place = await openSynced({ submissions: 3 });
    const [asked, patched] = place.store.ids(FORM);
    place.store.delete(asked!);
    place.onRequest = ({ method, path }) => {
      if (method === 'PATCH' && path.includes(patched!)) place.store.delete(patched!);
    };
    expect(await place.mark()).toMatchObject({ marked: 1, refused: 0 });
    expect(place.liveIds()).toHaveLength(3);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 2 });
    expect(await place.mark()).toMatchObject({ marked: 0, waiting: 0 });
  });

  it.each([400, 409] as const)(
    'a transition refused with %d is recorded once and not hammered',
    async (code) => {
      const refuseTransition = ({ status }: { status: string }) =>
        status === 'NEW' ? code : undefined;
      const place = await openSynced({ submissions: 5, behaviour: { refuseTransition } });
      expect(await place.mark()).toMatchObject({ marked: 0, refused: 5 });
      for (let n = 0; n < 3; n++) {
        await place.pass('full');
        expect(await place.mark()).toMatchObject({ marked: 0, refused: 0 });
      }
      expect(patches(place)).toBe(5);
      // Another status is another question.
      const [first] = place.store.ids(FORM);
      place.store.setStatus(first!, 'IN_PROGRESS');
      await place.pass('full');
      const markFrom = ['NEW', 'IN_PROGRESS'];
      expect(await place.mark({ markFrom })).toMatchObject({ marked: 1, refused: 0 });
      expect(patches(place)).toBe(6);
    },
  );

  it('--dry-run lists what would be marked, and changes nothing', async () => {
    const place = await openSynced({ submissions: 3 });
    const [first, ...others] = place.store.ids(FORM);
    place.store.setStatus(first!, 'PAID');
    const before = [...place.view().rows(FORM)];
    const { wouldMark } = await place.mark({ dryRun: true });
    expect(wouldMark.map(({ id }) => id).toSorted()).toEqual(others.toSorted());
    expect(patches(place)).toBe(0);
    expect([...place.view().rows(FORM)]).toEqual(before);
  });
});

describe('several targets', () => {
  const both = { targets: ['a', 'b'] };

  it('L7: a target added later holds marking up until it has caught up', async () => {
    const place = await openSynced({ submissions: 4 });
    expect(await place.mark(both)).toMatchObject({ marked: 0 });
    expect(patches(place)).toBe(0);
    await place.pass('full', { target: 'b' });
    place.submit();
    await place.pass('incremental');
    // The fifth is in one of the two only.
    expect(await place.mark(both)).toMatchObject({ marked: 4, waiting: 1 });
    for (const target of ['a', 'b']) {
      expect(
        [...statuses(place, target).values()].filter((status) => status === 'DONE'),
      ).toHaveLength(4);
    }
    await place.pass('incremental', { target: 'b' });
    expect(await place.mark(both)).toMatchObject({ marked: 1, waiting: 0 });
  });

  it('L7: a target that is removed is not asked any more', async () => {
    const place = await openSynced({ submissions: 4 });
    expect(await place.mark(both)).toMatchObject({ marked: 0 });
    expect(await place.mark({ targets: ['a'] })).toMatchObject({ marked: 4 });
  });

  it('L5: notes that only the first target got are made up for in the second', async () => {
    const place = await openSynced({ submissions: 4 });
    await place.pass('full', { target: 'b' });
    await place.mark({ targets: ['a'] });
    expect(new Set(statuses(place, 'b').values())).toEqual(new Set(['NEW']));
    const before = patches(place);
    expect(await place.mark(both)).toMatchObject({ marked: 0, adopted: 4 });
    expect(patches(place)).toBe(before);
    expect(new Set(statuses(place, 'b').values())).toEqual(new Set(['DONE']));
  });
});
