import { describe, expect, it } from 'vitest';
import { boundsOf } from '../../src/mirror/window.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FIELD, FORM, type SyncPlace } from '../support/sync-place.ts';
import { DAY_MS, HOUR_MS, openLarge, openSynced, windowsOf } from './large-form.ts';

/** Pages that a pass has read, of 10 items each: not those that were asked for a count alone. */
async function pagesOf(place: SyncPlace, work: () => Promise<unknown>): Promise<number> {
  const before = place.sandbox.requests.length;
  await work();
  const lists = place.sandbox.requests
    .slice(before)
    .filter(({ path, query }) => path === '/submissions' && query['limit'] !== '1');
  return lists.length;
}

/** A pass that is cut off after so many requests for pages and counts. */
async function cutOff(place: SyncPlace, after: number): Promise<void> {
  place.sandbox.faults.add({ path: '/submissions', status: 403, after, times: Infinity });
  expect((await place.pass('full')).outcome).toBe('failed');
  place.sandbox.faults.clear();
}

describe('a full pass over a large form', () => {
  it('L1: reads it window by window, and keeps when each was proven', async () => {
    const place = await openLarge();
    const stored: number[] = [];
    place.onRequest = ({ query }) => {
      if (query.get('limit') === '100' && query.get('page') === '1')
        stored.push(place.liveIds().length);
    };
    const report = await place.pass('full');
    // The form and the first window come before anything is stored, each other one while one before it is read; the newest when
    // all others are.
    expect(stored.slice(0, 2)).toEqual([0, 0]);
    expect(new Set(stored.slice(1, -1)).size).toBeLessThan(stored.length - 2);
    expect(stored.at(-1)).toBe(200 - (await windowsOf(place)).at(-1)!.total);
    expect(report).toMatchObject({ outcome: 'ok', inserted: 200, distinct: 200, total: 200 });
    expect(place.liveIds()).toEqual(place.sourceIds());
    const windows = await windowsOf(place);
    expect(windows.length).toBeGreaterThan(6);
    expect(windows.reduce((sum, { total }) => sum + total, 0)).toBe(200);
    expect(windows.every(({ open, provenAt }) => !open && provenAt !== null)).toBe(true);
    expect(report.requests).toBeLessThan(95);
    const again = await place.pass('full');
    expect(again).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, unchanged: 200 });
    expect(again.requests).toBeLessThan(60);
    expect(await place.pass('incremental')).toMatchObject({ outcome: 'ok', kind: 'incremental' });
  });

  it('L8, L16, L17: knows of one that was deleted after its window had met it', async () => {
    const place = await openLarge({ sort: 'ignored', baseOrder: 'id' });
    let pages = 0;
    place.onRequest = ({ path, query }) => {
      const [from, to] = ['dateFrom', 'dateTo'].map((name) => Date.parse(query.get(name) ?? ''));
      if (path !== '/submissions' || query.get('limit') === '1' || !(from! < to!)) return;
      if (++pages !== 3) return;
      // Of those in the window the first in the order of IDs is on its first page.
      const within = [...place.store.all(FORM)].filter(({ createdAt }) => {
        const at = Date.parse(createdAt);
        return at >= from! && at <= to!;
      });
      place.store.delete(within.map(({ id }) => id).toSorted()[0]!);
    };
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 0, absent: 1 });
    expect(await place.pass('incremental')).toMatchObject({
      kind: 'incremental',
      deleted: 1,
      absent: 0,
    });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L17: counts what it has seen once, though it reads a window again', async () => {
    const place = await openLarge();
    const oldest = Date.parse(place.store.get(place.store.ids(FORM)[0]!)!.createdAt);
    let isNew = true;
    place.onRequest = ({ path, query }) => {
      if (path !== '/submissions' || query.get('limit') === '1') return;
      // All but the newest window have been read by then.
      if (!query.has('dateFrom') || query.has('dateTo') || !isNew) return;
      isNew = false;
      place.submit({ createdAt: oldest - DAY_MS });
    };
    const read = { outcome: 'ok', kind: 'full', total: 201, distinct: 201, inserted: 201 };
    expect(await place.pass('full')).toMatchObject(read);
    // An incremental pass that becomes a full one begins anew.
    place.store.addField(FORM, { id: 'field_2_town', label: 'Town' });
    expect(await place.pass('incremental')).toMatchObject({ ...read, inserted: 0 });
    for (const id of place.store.ids(FORM).slice(0, 50)) place.store.setStatus(id, 'DONE');
    place.sandbox.faults.add({ query: { status: 'NEW' }, status: 400, times: Infinity });
    await place.clock.sleep(5 * 60_000);
    place.store.delete(place.store.ids(FORM)[0]!);
    const report = await place.pass('incremental', { compareCounts: true });
    expect(report).toMatchObject({ kind: 'full', total: 200, distinct: 200, updated: 49 });
  });

  it('L2: is no proof while its windows cannot be counted again', async () => {
    const place = await openLarge();
    let isEnding = false;
    place.onRequest = ({ path, query }) => {
      if (path !== '/submissions') return;
      const isPage = query.get('limit') !== '1';
      isEnding ||= isPage && query.has('dateFrom') && !query.has('dateTo');
      if (isEnding && !isPage) place.submit();
    };
    expect(await place.pass('full')).toMatchObject({ outcome: 'incomplete' });
    place.onRequest = () => {};
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok' });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L5: goes on with the windows that a pass which died has not proven', async () => {
    const place = await openLarge();
    await cutOff(place, 52);
    const windows = await windowsOf(place);
    const left = windows.filter(({ open }) => open);
    expect(windows.length - left.length).toBeGreaterThan(2);
    const size = left.reduce((sum, { total }) => sum + total, 0);
    let report;
    const pages = await pagesOf(place, async () => (report = await place.pass('full')));
    const since = windows[0]!.provenAt!;
    expect(report).toMatchObject({
      outcome: 'ok',
      total: 200,
      reason: expect.stringMatching(new RegExp(`cut off: \\d of \\d+ windows .* ${since}`)),
    });
    // The first page says how large the form is; a window's first one is read again at its end, where it is short.
    expect(pages).toBeLessThanOrEqual(1 + Math.ceil(size / 10) + 2 * left.length);
    expect(pages).toBeLessThan(22);
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect((await windowsOf(place)).some(({ open }) => open)).toBe(false);
  });

  it('L1, L2: begins anew where the form has been proven before, whatever a pass that died has proven', async () => {
    const place = await openSynced();
    await cutOff(place, 32);
    const windows = await windowsOf(place);
    expect(windows.filter(({ open }) => !open).length).toBeGreaterThan(1);
    const [edited, one, other, gone] = place.store.ids(FORM);
    place.store.setAnswers(edited!, { [FIELD]: 'edited' });
    place.store.setStatus(one!, 'DONE');
    place.store.setStatus(other!, 'IN_PROGRESS');
    place.store.delete(gone!);
    const imported = place.submit({ createdAt: Date.parse(windows[0]!.to!) - DAY_MS });
    const report = await place.pass('full');
    expect(report).toMatchObject({
      outcome: 'ok',
      total: 200,
      updated: 3,
      inserted: 1,
      deleted: 1,
    });
    expect(report).toMatchObject({ distinct: 200, reason: null });
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect(place.liveIds()).toContain(imported);
  });

  it('L2: reads a window again in which something came meanwhile, though a pass before it had proven it', async () => {
    const place = await openLarge();
    await cutOff(place, 52);
    const [first] = await windowsOf(place);
    expect(first).toMatchObject({ open: false });
    const imported = place.submit({ createdAt: Date.parse(first!.to!) - DAY_MS });
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', total: 201 });
    expect(place.liveIds()).toContain(imported);
  });

  it('L6, L17: knows what has no row in the windows of a dead pass, so that counts by status can be compared', async () => {
    const place = await openLarge();
    const ids = place.store.ids(FORM);
    for (const at of [3, 100, 190]) place.store.distort(ids[at]!, { id: undefined });
    await cutOff(place, 52);
    expect((await place.pass('full')).outcome).toBe('ok');
    await using target = openSqlite('a', place.file(), place.clock);
    const checkpoint = await (await target.reader(FORM))?.checkpoint();
    expect([...(checkpoint?.unstored ?? [])]).toEqual([['NEW', 3]]);
    expect([...(checkpoint?.statuses ?? [])]).toEqual([['NEW', 200]]);
  });

  it('L8: and one in which something was deleted meanwhile', async () => {
    const place = await openLarge();
    await cutOff(place, 52);
    const [oldest] = place.store.ids(FORM);
    place.store.delete(oldest!);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', total: 199, deleted: 1 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('begins anew after a day, or with other settings', async () => {
    const place = await openLarge();
    await cutOff(place, 52);
    await place.clock.sleep(2 * DAY_MS);
    const pages = await pagesOf(place, () => place.pass('full'));
    expect(pages).toBeGreaterThan(23);
  });

  it('L8: marks what each window has lost, each after its 404', async () => {
    const place = await openSynced();
    const gone = place.store.ids(FORM).filter((_, at) => at % 25 === 0);
    for (const id of gone) place.store.delete(id);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: gone.length });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L8: marks nothing where the whole form has lost too much, until that is accepted', async () => {
    const place = await openSynced();
    for (const id of place.store.ids(FORM).slice(0, 80)) place.store.delete(id);
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome: 'withheld', deleted: 0, withheld: 80 });
    expect(place.liveIds()).toHaveLength(200);
    const accepted = await place.pass('full', { acceptDeletes: true });
    expect(accepted).toMatchObject({ outcome: 'ok', deleted: 80, withheld: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L8: a window may lose most of its rows where the form loses little', async () => {
    const place = await openSynced();
    for (const id of place.store.ids(FORM).slice(0, 28)) place.store.delete(id);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 28, withheld: 0 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('cuts the newest window alone when it has grown', async () => {
    const place = await openSynced();
    const before = await windowsOf(place);
    for (let n = 0; n < 80; n++) {
      place.submit();
      place.wait(6 * HOUR_MS);
    }
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', total: 280, inserted: 80 });
    const after = await windowsOf(place);
    expect(after.length).toBeGreaterThan(before.length + 1);
    expect(after.slice(0, before.length - 1).map(({ from }) => from)).toEqual(
      before.slice(0, -1).map(({ from }) => from),
    );
  });

  it('reads rows whose date the source does not show, and asks for each by its ID', async () => {
    const place = await openSynced();
    const [gone, odd] = place.store.ids(FORM).filter((_, at) => at === 40 || at === 90);
    for (const id of [gone!, odd!]) place.store.distort(id, { createdAt: 'yesterday' });
    expect((await place.pass('full')).outcome).toBe('ok');
    place.store.delete(gone!);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', deleted: 1 });
    expect(place.liveIds()).toEqual(place.sourceIds());
  });
});

describe('a large form whose bounds do not mean what they should', () => {
  const READINGS: readonly [string, Partial<SandboxBehaviour>][] = [
    ['are ignored', { dateFilter: 'ignored' }],
    ['are refused', { dateFilter: 'refused' }],
    ['leave their own day out', { dateFrom: 'exclusive', dateGrain: 'day' }],
    ['leave the last day out', { dateTo: 'exclusive', dateGrain: 'day' }],
  ];

  it.each(['an older one', 'the newest'])(
    'L3: is read whole where later pages of %s are refused',
    async (which) => {
      const place = await openSynced();
      const windows = await windowsOf(place);
      const window = which === 'the newest' ? windows.at(-1)! : windows[1]!;
      const { dateFrom = '' } = boundsOf(window);
      const query = { page: '2', dateFrom };
      place.sandbox.faults.add({ path: '/submissions', query, status: 400, times: Infinity });
      expect(await place.pass('full')).toMatchObject({ outcome: 'ok', distinct: 200 });
      expect(place.liveIds()).toEqual(place.sourceIds());
    },
  );

  it.each(READINGS)('L3: is read whole where they %s, and not cut at each pass', async (_, how) => {
    const place = await openLarge(how);
    expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 200, distinct: 200 });
    expect(await windowsOf(place)).toMatchObject([{ from: null, to: null }]);
    const again = await place.pass('full');
    expect(again).toMatchObject({ outcome: 'ok', unchanged: 200 });
    expect(again.requests).toBeLessThan(25);
    await place.clock.sleep(8 * DAY_MS);
    place.sandbox.behave(WORKING);
    expect((await place.pass('full')).outcome).toBe('ok');
    expect((await windowsOf(place)).length).toBeGreaterThan(6);
  });

  const WORKING = { dateFilter: 'honoured', dateFrom: 'inclusive', dateTo: 'inclusive' } as const;

  it('L3: is read whole while so much is deleted that it cannot be counted, and in windows once that is over', async () => {
    const place = await openLarge();
    // The first count of the form in windows says that they leave something out, and so do those after it.
    place.onRequest = ({ path, query }) => {
      if (path !== '/submissions' || query.get('limit') !== '1') return;
      if (query.has('dateFrom') && !query.has('dateTo')) {
        const last = place.store.ids(FORM).at(-1);
        if (last !== undefined) place.store.delete(last);
      }
    };
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect(await windowsOf(place)).toEqual([]);
    place.onRequest = () => {};
    expect((await place.pass('full')).outcome).toBe('ok');
    expect((await windowsOf(place)).length).toBeGreaterThan(6);
  });

  it('L3: works in windows where they mean days', async () => {
    const place = await openSynced({ dateGrain: 'day' });
    expect((await windowsOf(place)).length).toBeGreaterThan(6);
    expect(place.liveIds()).toEqual(place.sourceIds());
  });

  it('L2: is read whole once a changed status has moved a submission into another window', async () => {
    const place = await openSynced({ dateStamp: 'updated' });
    expect((await windowsOf(place)).length).toBeGreaterThan(6);
    const [old] = place.store.ids(FORM);
    place.store.setStatus(old!, 'DONE');
    const report = await place.pass('full');
    expect(report).toMatchObject({ outcome: 'ok', updated: 1, deleted: 0 });
    expect(await windowsOf(place)).toMatchObject([{ from: null, to: null }]);
  });

  it('L2: misses nothing that leaves a window not yet read for one that is', async () => {
    const place = await openLarge({ dateStamp: 'updated' });
    // While the oldest windows are read, what is in a later one moves to the newest.
    let requests = 0;
    const late = place.store.ids(FORM)[170]!;
    place.onRequest = () => {
      if (++requests === 45) place.store.setStatus(late, 'DONE');
    };
    expect((await place.pass('full')).outcome).toBe('ok');
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect(await windowsOf(place)).toMatchObject([{ from: null, to: null }]);
  });
});
