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
  it('L7: marks each of 250 once; the rows show it, and another run makes no request', async () => {
    const place = await openSynced({ submissions: 250 });
    expect(await place.mark()).toMatchObject({ marked: 250, refused: 0, waiting: 0 });
    expect(patches(place)).toBe(250);
    expect(new Set(statuses(place).values())).toEqual(new Set(['DONE']));
    const before = place.sandbox.requests.length;
    expect(await place.mark()).toMatchObject({ marked: 0, adopted: 0 });
    expect(place.sandbox.requests.length - before).toBeLessThanOrEqual(1);
    // The next pass finds nothing to change.
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', updated: 0 });
  });

  it('L2, L7: a full pass during which marking changes statuses loses nothing', async () => {
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
    const inBetween = new Set<string>();
    const patched = new Set<string>();
    let most = 0;
    place.onRequest = ({ method, path }) => {
      const id = /^\/submissions\/([^/]+)/.exec(path)?.[1];
      if (id === undefined) return;
      if (method === 'PATCH') patched.add(id);
      // The first ones are read after their PATCH, too.
      if (patched.has(id)) inBetween.delete(id);
      else inBetween.add(id);
      most = Math.max(most, inBetween.size);
    };
    expect(await place.mark()).toMatchObject({ marked: 120 });
    // As many as requests may be in flight: none that was read waits for the others of its chunk.
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

  it('L7: a PATCH whose answer never arrives costs a repeat, and nothing else', async () => {
    const place = await openSynced({ submissions: 4 });
    place.sandbox.faults.add({ method: 'PATCH', status: 500, applied: true, times: 2 });
    place.sandbox.faults.add({ method: 'PATCH', dropConnection: true, applied: true, times: 1 });
    expect(await place.mark()).toMatchObject({ marked: 4 });
    expect(new Set(statuses(place).values())).toEqual(new Set(['DONE']));
  });

  it('L7: when some PATCHes fail for good, the others are still stored', async () => {
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
      // With another status it is tried again.
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

  it('L7: a target added later delays marking until it has caught up', async () => {
    const place = await openSynced({ submissions: 4 });
    expect(await place.mark(both)).toMatchObject({ marked: 0 });
    expect(patches(place)).toBe(0);
    await place.pass('full', { target: 'b' });
    place.submit();
    await place.pass('incremental');
    // The fifth is in only one of the two.
    expect(await place.mark(both)).toMatchObject({ marked: 4, waiting: 1 });
    for (const target of ['a', 'b']) {
      expect(
        [...statuses(place, target).values()].filter((status) => status === 'DONE'),
      ).toHaveLength(4);
    }
    await place.pass('incremental', { target: 'b' });
    expect(await place.mark(both)).toMatchObject({ marked: 1, waiting: 0 });
  });

  it('L7: a removed target is no longer asked', async () => {
    const place = await openSynced({ submissions: 4 });
    expect(await place.mark(both)).toMatchObject({ marked: 0 });
    expect(await place.mark({ targets: ['a'] })).toMatchObject({ marked: 4 });
  });

  it('L5: statuses that only the first target got are stored in the second by the next run', async () => {
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

describe('L7: what the source refuses', () => {
  const everything = { times: Number.POSITIVE_INFINITY };

  it.each([403, 405, 422, 500, 501])(
    'a PATCH that answers %d for all is a failure, and all is marked once it is mended',
    async (status) => {
      const place = await openSynced({ submissions: 3 });
      place.sandbox.faults.add({ method: 'PATCH', status, ...everything });
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'failed', marked: 0, remembered: 0 });
      expect(report.refused + report.failed).toBe(3);
      expect(report.failure?.message).toMatch(/^3 submissions could not be set to DONE/);
      place.sandbox.faults.clear();
      expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 3, remembered: 0 });
    },
  );

  it.each([400, 403, 405, 409, 422, 503])(
    'answers %d to every PATCH: a run stops after a few, and the next one after the mend marks all',
    async (status) => {
      const place = await openSynced({ submissions: 200 });
      place.sandbox.faults.add({ method: 'PATCH', status, ...everything });
      const report = await place.tryMark();
      expect(report).toMatchObject({ outcome: 'failed', marked: 0 });
      expect(report.failure?.message).toMatch(/^Marking stopped: /);
      const tried = new Set(
        place.sandbox.requests.filter(({ method }) => method === 'PATCH').map(({ path }) => path),
      );
      expect(tried.size).toBeLessThanOrEqual(20);
      place.sandbox.faults.clear();
      expect(await place.mark()).toMatchObject({ marked: 200, remembered: 0 });
    },
  );

  it('another MARK_STATUS is tried at once', async () => {
    const refuseTransition = (_: unknown, to: string) => (to === 'DONE' ? 409 : undefined);
    const place = await openSynced({ submissions: 2, behaviour: { refuseTransition } });
    expect(await place.mark()).toMatchObject({ refused: 2 });
    expect(await place.mark()).toMatchObject({ refused: 0, remembered: 2 });
    expect(await place.mark({ markStatus: 'PAID' })).toMatchObject({ marked: 2, remembered: 0 });
  });

  it('a refusal is over after a day', async () => {
    const place = await openSynced({ submissions: 2 });
    place.sandbox.faults.add({ method: 'PATCH', status: 409, times: 2 });
    expect(await place.mark()).toMatchObject({ refused: 2, marked: 0 });
    await place.clock.sleep(23 * 3_600_000);
    expect(await place.mark()).toMatchObject({ marked: 0, remembered: 2 });
    await place.clock.sleep(2 * 3_600_000);
    expect(await place.mark()).toMatchObject({ marked: 2, remembered: 0 });
  });

  it('a person who was faster by a moment makes no refusal', async () => {
    const place = await openSynced({
      submissions: 3,
      behaviour: { refuseTransition: ({ status }) => (status === 'NEW' ? undefined : 409) },
    });
    const [first] = place.store.ids(FORM);
    place.onRequest = ({ method, path }) => {
      if (method === 'PATCH' && path.includes(first!)) place.store.setStatus(first!, 'IN_PROGRESS');
    };
    expect(await place.mark()).toMatchObject({ marked: 2, adopted: 1, refused: 0 });
    expect(statuses(place).get(first!)).toBe('IN_PROGRESS');
    place.onRequest = () => {};
    place.store.setStatus(first!, 'NEW');
    await place.pass('full');
    expect(await place.mark()).toMatchObject({ marked: 1, refused: 0, remembered: 0 });
  });

  it('a refusal ends when the row changes, even if it changes back', async () => {
    const place = await openSynced({ submissions: 1 });
    const [first] = place.store.ids(FORM);
    place.sandbox.faults.add({ method: 'PATCH', status: 409, times: 1 });
    expect(await place.mark()).toMatchObject({ refused: 1 });
    for (const status of ['IN_PROGRESS', 'NEW']) {
      place.store.setStatus(first!, status);
      await place.pass('full');
    }
    expect(await place.mark()).toMatchObject({ marked: 1, remembered: 0 });
  });

  it('422 is remembered where others go through, as it is about that submission then', async () => {
    const place = await openSynced({ submissions: 30 });
    const [odd] = place.store.ids(FORM);
    const path = `/submissions/${odd}`;
    place.sandbox.faults.add({ method: 'PATCH', path, status: 422, ...everything });
    expect(await place.mark()).toMatchObject({ marked: 29, refused: 1 });
    expect(await place.mark()).toMatchObject({ marked: 0, refused: 0, remembered: 1 });
  });
});

describe('L12: one bad submission holds up no other', () => {
  const times = Number.POSITIVE_INFINITY;

  it.each([
    { bad: 'a GET that answers 410', rule: { method: 'GET', status: 410 } },
    { bad: 'a GET that answers 403', rule: { method: 'GET', status: 403 } },
    { bad: 'a GET that answers 500', rule: { method: 'GET', status: 500 } },
    { bad: 'a GET that answers HTML', rule: { method: 'GET', status: 200, body: '<html>' } },
    { bad: 'a PATCH that answers 403', rule: { method: 'PATCH', status: 403 } },
    { bad: 'a PATCH that answers 500', rule: { method: 'PATCH', status: 500 } },
  ])('$bad', async ({ rule }) => {
    const place = await openSynced({ submissions: 120 });
    const bad = place.store.ids(FORM)[7]!;
    place.sandbox.faults.add({ path: `/submissions/${bad}`, times, ...rule });
    const report = await place.tryMark();
    expect(report).toMatchObject({ outcome: 'partial', marked: 119 });
    expect(report.refused + report.failed).toBe(1);
    expect(report.unmarked).toEqual([
      { submissionId: bad, reason: expect.stringContaining(`/submissions/${bad}`) },
    ]);
    expect(statuses(place).get(bad)).toBe('NEW');
    place.sandbox.faults.clear();
    expect(await place.mark()).toMatchObject({ outcome: 'done', marked: 1 });
  });

  it('an ID that no address can carry', async () => {
    const place = await SyncPlace.open({ submissions: 60 });
    place.submit({ id: '.' });
    await place.pass('full');
    const report = await place.tryMark();
    expect(report).toMatchObject({ outcome: 'partial', marked: 60, failed: 1 });
    expect(report.unmarked.map(({ submissionId }) => submissionId)).toEqual(['.']);
  });

  it('twenty bad ones, whichever they are, are passed within a few runs', async () => {
    const place = await openSynced({ submissions: 60 });
    for (const id of place.store.ids(FORM).slice(0, 20)) {
      place.sandbox.faults.add({ path: `/submissions/${id}`, status: 410, times });
    }
    for (let run = 0; run < 3; run++) await place.tryMark();
    const done = [...statuses(place).values()].filter((status) => status === 'DONE');
    expect(done).toHaveLength(40);
  });

  it('a refused key ends the run at once', async () => {
    const place = await openSynced({ submissions: 60 });
    place.sandbox.faults.add({ method: 'PATCH', status: 401, times });
    const report = await place.tryMark();
    expect(report).toMatchObject({ outcome: 'failed', marked: 0 });
    expect(report.failure?.code).toBe('FORMS_UNAUTHORIZED');
    expect(patches(place)).toBeLessThanOrEqual(4);
  });
});
