import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { FORM, SyncPlace } from '../support/sync-place.ts';

// A list that leaves out submissions that are there: it proves nothing of what else it leaves out.

const openSynced = async (submissions: number): Promise<SyncPlace> => {
  const place = await SyncPlace.open({ submissions });
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
};

/** From now on the list, of one page, shows all but `hidden`, and its `total` agrees; returns how to end that. */
function hide(place: SyncPlace, hidden: readonly string[]): () => void {
  const shown = place.store.ids(FORM).filter((id) => !hidden.includes(id));
  const items = shown.map((id) => wireItem(place, id));
  const list = { items, total: items.length, page: 1, limit: 100, totalPages: 1 };
  const body = JSON.stringify(list);
  return place.sandbox.faults.add({ path: /^\/submissions$/, status: 200, body, times: Infinity });
}

/** The same of one submission in a list of several pages. */
function hideInPages(place: SyncPlace, hidden: string): () => void {
  place.onRequest = ({ path }) => {
    if (path === '/submissions') place.store.delete(hidden);
    if (path === `/submissions/${hidden}`) place.store.restore(hidden);
  };
  return () => {
    place.onRequest = () => {};
    place.store.restore(hidden);
  };
}

function checkpointOf(place: SyncPlace): Record<string, unknown> {
  using database = new DatabaseSync(place.file());
  return database.prepare('SELECT * FROM mirror_checkpoints').get() ?? {};
}

function wireItem(place: SyncPlace, id: string): Record<string, unknown> {
  const { data, status, createdAt } = place.store.get(id)!;
  return {
    id,
    formId: FORM,
    status,
    createdAt: new Date(createdAt).toISOString(),
    data: Object.fromEntries(data),
  };
}

describe('a list that hides submissions', () => {
  it('L17: more of them than the brake lets be asked for: what an earlier pass has seen of them still stands', async () => {
    const place = await openSynced(80);
    const end = hide(place, place.store.ids(FORM).slice(10, 50));
    const asked = await place.pass('full', { acceptDeletes: true });
    expect(asked).toMatchObject({ outcome: 'incomplete', deleted: 0 });
    const before = checkpointOf(place);
    for (const kind of ['full', 'incremental'] as const) {
      const report = await place.pass(kind);
      expect(report.outcome).toBe('incomplete');
      expect(report.error).toMatch(
        /^An earlier full pass found 40 submissions .* by ID that the list/,
      );
      const { hidden, proven_at: provenAt } = checkpointOf(place);
      expect({ hidden, provenAt }).toEqual({ hidden: 40, provenAt: before['proven_at'] });
    }
    end();
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(checkpointOf(place)['hidden']).toBe(0);
  });

  it('L8, L17: that are there when asked for by ID: no proof, no checkpoint, and the message says how many', async () => {
    const place = await openSynced(60);
    const hidden = place.store.ids(FORM).slice(10, 15);
    const end = hide(place, hidden);
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome: 'incomplete', code: 'PASS_INCOMPLETE', deleted: 0 });
    expect(report.error).toMatch(/^The source shows 5 submissions .* by ID, but not in its list/);
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect((await place.verify()).outcome).toBe('unproven');
    expect((await place.pass('full')).outcome).toBe('incomplete');
    end();
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0 });
  });

  it('L17: no pass is proven, and nothing is called deleted, until a full one finds the list whole', async () => {
    const place = await openSynced(250);
    const end = hideInPages(place, place.store.ids(FORM)[5]!);
    expect(await place.pass('full')).toMatchObject({ outcome: 'incomplete', deleted: 0 });
    const before = checkpointOf(place);
    expect(before).toMatchObject({ hidden: 1, absent: 0 });
    place.submitMany(3);
    // As often as not a pass at once, with no time for reading everything.
    for (let one = 0; one < 2; one++) {
      const report = await place.pass('incremental');
      expect(report).toMatchObject({ kind: 'incremental', outcome: 'incomplete', absent: 0 });
      expect(report).toMatchObject({ code: 'PASS_INCOMPLETE', deleted: 0 });
      expect(report.error).toMatch(
        /^An earlier full pass found 1 submission .* by ID that the list/,
      );
      expect(report.inserted).toBe(one === 0 ? 3 : 0);
      expect(checkpointOf(place)).toMatchObject({
        hidden: 1,
        absent: 0,
        proven_at: before['proven_at'],
      });
    }
    await place.clock.sleep(60_000);
    const widened = await place.pass('incremental');
    expect(widened).toMatchObject({ kind: 'full', outcome: 'incomplete' });
    expect(widened.reason).toMatch(/found 1 submission by ID that the list does not show/);
    end();
    await place.clock.sleep(60_000);
    const settled = await place.pass('incremental');
    expect(settled).toMatchObject({ kind: 'full', outcome: 'ok', inserted: 0, deleted: 0 });
    expect(checkpointOf(place)).toMatchObject({ hidden: 0, absent: 0, total: 253 });
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', outcome: 'ok' });
  });

  it('L17: one that a comparison has found by its ID is hidden from the full pass that it becomes, too', async () => {
    const place = await openSynced(1_100);
    const end = hideInPages(place, place.store.ids(FORM)[500]!);
    // Of an old date: only counts tell where they are.
    place.submitMany(5, { createdAt: place.store.now() - 86_400_000 });
    const report = await place.pass('incremental', { compareCounts: true });
    expect(report).toMatchObject({ kind: 'full', outcome: 'incomplete', deleted: 0 });
    expect(report.error).toMatch(/^The source shows 1 submission .* by ID, but not in its list/);
    end();
    await place.clock.sleep(3_600_000);
    expect(await place.pass('incremental')).toMatchObject({ kind: 'full', outcome: 'ok' });
  });

  it('L8: marks those of them that are gone, once, in a dry run as well', async () => {
    const place = await openSynced(60);
    const [gone, ...others] = place.store.ids(FORM).slice(10, 15);
    place.store.delete(gone!);
    hide(place, others);
    const expected = { outcome: 'incomplete', deleted: 1 };
    expect(await place.pass('full', { dryRun: true })).toMatchObject(expected);
    expect(await place.pass('full')).toMatchObject(expected);
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it.each([1, 60])(
    'L1: one of %d that comes back after the list was read is a race: the pass looks again and is proven',
    async (submissions) => {
      const place = await openSynced(submissions);
      const back = place.store.ids(FORM)[0]!;
      place.store.delete(back);
      place.onRequest = ({ path }) => {
        if (path === `/submissions/${back}`) place.store.restore(back);
      };
      const report = await place.pass('full');
      expect(report).toMatchObject({ outcome: 'ok', deleted: 0, total: submissions });
      expect(place.liveIds()).toEqual(place.sourceIds());
      expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', kind: 'incremental' });
    },
  );

  it('L10: an answer by ID that leaves the status out overwrites none', async () => {
    const place = await openSynced(60);
    const [hidden] = place.store.ids(FORM).slice(10, 15);
    place.store.setStatus(hidden!, 'PAID');
    await place.pass('full');
    const { status: _, ...item } = wireItem(place, hidden!);
    hide(place, [hidden!]);
    const body = JSON.stringify(item);
    const path = `/submissions/${hidden}`;
    place.sandbox.faults.add({ path, status: 200, body, times: Infinity });
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome: 'incomplete', updated: 0, rejected: 0 });
    expect(place.view().rows(FORM).get(hidden!)).toMatchObject({ status: 'PAID' });
    const verified = await place.verify();
    expect(verified).toMatchObject({ outcome: 'unproven', differing: { count: 0 } });
  });

  it('L6, L12: many that answer 500 cost all tries only while few have failed', async () => {
    const place = await openSynced(300);
    const ids = place.store.ids(FORM).slice(0, 60);
    for (const id of ids) place.store.delete(id);
    place.sandbox.faults.add({ path: /^\/submissions\/./, status: 500, times: Infinity });
    const began = place.sandbox.requests.length;
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', undecided: 60 });
    // Those asked together are tried six times each; of the rest each once.
    expect(place.requests('GET', /^\/submissions\/./)).toBeLessThanOrEqual(50 * 6 + 10);
    const asked = place.sandbox.requests.length;
    expect(await place.verify()).toMatchObject({ listed: 60 });
    expect(place.sandbox.requests.length - asked).toBeLessThan(200);
    expect(asked).toBeGreaterThan(began);
  });
});
