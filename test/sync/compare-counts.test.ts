import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import {
  countsText,
  plusCounts,
  type StatusCounts,
  totalOf,
} from '../../src/mirror/status-counts.ts';
import type { Checkpoint } from '../../src/mirror/types.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

// Statuses, deletions, restorations and imports of any age move the counts by status: halving by date finds them.

const DAY = 24 * 60 * 60_000;

/** Submissions over many days, mirrored. Most are NEW, and their list has many pages. */
async function openSynced(
  submissions: number,
  behaviour: SyncPlaceOptions['behaviour'] = {},
): Promise<SyncPlace> {
  const place = await SyncPlace.open({ behaviour });
  for (let n = 0; n < submissions; n++) {
    if (n % 30 === 29) place.wait(DAY);
    place.submit({ status: n % 4 === 0 ? 'DONE' : 'NEW' });
  }
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
}

const compare = (place: SyncPlace): Promise<PassReport> =>
  place.pass('incremental', { compareCounts: true });

/** What the next look compares with the source's counts. */
async function accounted(
  place: SyncPlace,
): Promise<{ counts: StatusCounts; checkpoint: Checkpoint | undefined }> {
  const target = openSqlite('a', place.file(), systemClock);
  const reader = await target.reader(FORM);
  const [held, checkpoint] = [await reader?.statusCounts(), await reader?.checkpoint()];
  await target[Symbol.asyncDispose]();
  const counts = plusCounts(held ?? new Map(), checkpoint?.unstored ?? new Map());
  return { counts, checkpoint };
}

/** By status, what the source has. */
function sourceCounts(place: SyncPlace): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of place.store.ids(FORM)) {
    const status = place.store.get(id)?.status ?? '';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

const inOrder = (counts: StatusCounts | null | undefined): string =>
  countsText(counts ?? new Map());

/** The copy has the same submissions in the same statuses, and the checkpoint says so. */
async function expectSame(place: SyncPlace): Promise<void> {
  const rows = [...place.view().rows(FORM).values()].filter((row) => row._deleted_at === null);
  const stored = rows.map(({ id, status }) => `${id} ${status}`).toSorted();
  const there = place.store.ids(FORM).map((id) => `${id} ${place.store.get(id)?.status}`);
  expect(stored).toEqual(there.toSorted());
  const { checkpoint } = await accounted(place);
  expect(inOrder(checkpoint?.statuses)).toEqual(inOrder(sourceCounts(place)));
}

async function forget(place: SyncPlace, ids: readonly string[]): Promise<void> {
  const target = openSqlite('a', place.file(), systemClock);
  {
    await using writer = await target.openWriter({ id: FORM, slug: '', name: '' }, { waitMs: 0 });
    await writer.forget(ids, '2026-06-01T00:00:00.000Z');
  }
  await target[Symbol.asyncDispose]();
}

describe('a comparison by counts', () => {
  it('L16: finds a status that changed long ago, in few requests', async () => {
    const place = await openSynced(2_000);
    const [, , , fourth = ''] = place.store.ids(FORM);
    place.store.setStatus(fourth, 'DONE');
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', updated: 1, deleted: 0 });
    expect(report.requests).toBeLessThan(20);
    await expectSame(place);
  });

  it('L16, L8: finds what was deleted, restored, imported and changed at once', async () => {
    const place = await openSynced(2_000);
    const ids = place.store.ids(FORM);
    place.store.delete(ids[801] ?? '');
    await compare(place);
    expect(
      place
        .view()
        .rows(FORM)
        .get(ids[801] ?? '')?._deleted_at,
    ).not.toBeNull();
    place.store.restore(ids[801] ?? '');
    // Of DONE, as nothing appears there: what cancels out in a status, no count shows.
    for (const at of [4, 332, 1_212]) place.store.delete(ids[at] ?? '');
    for (const at of [8, 12, 1_952]) place.store.setStatus(ids[at] ?? '', 'PAID');
    place.submit({ createdAt: Date.UTC(2021, 4, 4) });
    place.submit();
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', deleted: 3, inserted: 2 });
    expect(report.requests).toBeLessThan(80);
    await expectSame(place);
    const quiet = await compare(place);
    expect(quiet).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0, deleted: 0 });
    expect(quiet.requests).toBeLessThan(10);
  });

  it('L16: finds a status that is not documented, and one that leaves it', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    place.store.setStatus(ids[700] ?? '', 'ON_HOLD');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', updated: 1 });
    await expectSame(place);
    place.store.setStatus(ids[700] ?? '', 'DONE');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', updated: 1 });
    await expectSame(place);
    place.store.setStatus(ids[700] ?? '', 'ON_HOLD');
    await compare(place);
    place.store.delete(ids[700] ?? '');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', deleted: 1 });
    await expectSame(place);
  });

  it('L17: says since when the counts agree, and only where they did', async () => {
    const place = await openSynced(1_500);
    const before = (await accounted(place)).checkpoint?.countsAt;
    await place.clock.sleep(1_000);
    await place.pass('incremental');
    expect((await accounted(place)).checkpoint?.countsAt).toBe(before);
    await compare(place);
    const after = (await accounted(place)).checkpoint?.countsAt;
    expect(Date.parse(after ?? '')).toBe(Date.parse(before ?? '') + 1_000);
  });

  it('L2: a status that changes while counts are compared stands in for no submission that is missing', async () => {
    const place = await openSynced(1_200);
    const old = place.store.now() - 20 * DAY;
    place.submit({ createdAt: old });
    const [changing = ''] = place.store
      .ids(FORM)
      .filter((id) => place.store.get(id)?.status === 'NEW');
    let isRead = false;
    place.onRequest = ({ query }) => {
      // What it has counted and found is read: behind it something comes and something changes.
      if (isRead || query.get('status') !== 'NEW' || query.get('limit') !== '100') return;
      isRead = true;
      place.submit({ createdAt: old - 5 * DAY });
      place.store.setStatus(changing, 'DONE');
    };
    const report = await place.pass('incremental');
    expect(isRead).toBe(true);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', inserted: 2 });
    expect(place.liveIds()).toEqual(place.sourceIds());
    expect(inOrder((await accounted(place)).counts)).toBe(inOrder(sourceCounts(place)));
  });

  it('L17: leaves a change of the last moment to the next look', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    const began = (await accounted(place)).checkpoint?.countsAt;
    await place.clock.sleep(1_000);
    let at = 0;
    // Each request meets another source.
    place.onRequest = () => place.store.setStatus(ids[(at += 37) % ids.length] ?? '', 'PAID');
    expect(await compare(place)).toMatchObject({ outcome: 'ok' });
    const { counts, checkpoint } = await accounted(place);
    expect(inOrder(counts)).toEqual(inOrder(checkpoint?.statuses));
    expect(inOrder(counts)).not.toEqual(inOrder(sourceCounts(place)));
    expect(checkpoint?.countsAt).toBe(began);
    place.onRequest = () => {};
    expect(await compare(place)).toMatchObject({ outcome: 'ok' });
    await expectSame(place);
  });

  it('L7: marking keeps what a look compares right', async () => {
    const place = await openSynced(1_200);
    await place.mark();
    const { counts } = await accounted(place);
    expect(inOrder(counts)).toEqual(inOrder(sourceCounts(place)));
  });
});

describe('what the source counts and no row stands for', () => {
  it('L6: an item without an ID is accounted for, and what comes beside it is found', async () => {
    const place = await SyncPlace.open();
    for (let n = 0; n < 50; n++)
      place.submitMany(30, { createdAt: Date.UTC(2026, 0, 1) + n * DAY });
    const ids = place.store.ids(FORM);
    place.store.distort(ids[400] ?? '', { id: null });
    await place.pass('full');
    const { counts, checkpoint } = await accounted(place);
    expect(inOrder(counts)).toEqual(inOrder(sourceCounts(place)));
    expect(checkpoint?.unstored).toEqual(new Map([['NEW', 1]]));
    place.store.distort(place.submit({ createdAt: Date.UTC(2026, 5, 1) }), { id: null });
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', outcome: 'ok' });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
    place.store.setStatus(ids[41] ?? '', 'DONE');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', updated: 1 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
  });

  it('L18: a forgotten one is accounted for, and stays away', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    const gone = ids[777] ?? '';
    await forget(place, [gone]);
    expect(await compare(place)).toMatchObject({ outcome: 'ok', inserted: 0 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
    place.store.setStatus(gone, 'PAID');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', inserted: 0, updated: 0 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
    expect(place.liveIds()).not.toContain(gone);
  });

  it('L17: a deletion beside one that is accounted for without a row is no agreement', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    await forget(place, [ids[777] ?? '']);
    await compare(place);
    // Of the same day: the counts of any span that holds both are as they are held.
    place.store.delete(ids[778] ?? '');
    expect(await compare(place)).toMatchObject({ outcome: 'ok', deleted: 1 });
    expect(place.liveIds()).not.toContain(ids[778]);
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
  });

  it('L17: forgetting one does not make up for a deletion of the same status', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    await forget(place, [ids[777] ?? '']);
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
    place.store.delete(ids[901] ?? '');
    expect(await compare(place)).toMatchObject({ kind: 'incremental', outcome: 'ok', deleted: 1 });
    expect(place.liveIds()).not.toContain(ids[901]);
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
  });

  it('L17: one that was forgotten after it was deleted is accounted for no longer', async () => {
    const place = await openSynced(1_500);
    const gone = place.store.ids(FORM)[777] ?? '';
    place.store.delete(gone);
    await forget(place, [gone]);
    expect(await compare(place)).toMatchObject({ outcome: 'ok', deleted: 0 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
  });

  it('L6: a row of which the source says nothing is listed, and asked for no further', async () => {
    const place = await openSynced(1_500);
    const gone = place.store.ids(FORM)[900] ?? '';
    place.store.delete(gone);
    place.sandbox.faults.add({ path: `/submissions/${gone}`, status: 403, times: Infinity });
    expect(await compare(place)).toMatchObject({ outcome: 'ok', deleted: 0, undecided: 1 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
    expect((await place.pass('incremental')).requests).toBeLessThan(3);
  });

  it('L6, L17: one that shows no status is counted with the one that the source takes it to have', async () => {
    const place = await openSynced(2_400);
    const ids = place.store.ids(FORM);
    place.store.distort(ids[900] ?? '', { status: null });
    await compare(place);
    place.store.setStatus(ids[17] ?? '', 'DONE');
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', updated: 1 });
    const { checkpoint } = await accounted(place);
    expect(totalOf(checkpoint?.statuses ?? new Map())).toBe(2_400);
    expect((await compare(place)).requests).toBeLessThan(10);
  });

  it('L16, L17: a deletion does not hide behind one that shows no status', async () => {
    for (const dateFilter of ['honoured', 'ignored'] as const) {
      const place = await openSynced(2_400, { dateFilter });
      const ids = place.store.ids(FORM);
      place.store.distort(ids[201] ?? '', { status: null });
      await place.pass('full');
      expect(place.store.get(ids[201] ?? '')?.status).toBe('NEW');
      place.store.delete(ids[902] ?? '');
      for (let tick = 0; tick < 2; tick++) {
        await place.clock.sleep(2 * 60_000);
        expect(await compare(place)).toMatchObject({ outcome: 'ok' });
      }
      expect(place.liveIds()).toEqual(place.sourceIds());
      const { checkpoint } = await accounted(place);
      expect(totalOf(checkpoint?.statuses ?? new Map())).toBe(2_399);
      expect((await compare(place)).requests).toBeLessThan(12);
    }
  });

  it('L3, L17: ties that change places between two pages are no further entries', async () => {
    const place = await SyncPlace.open({
      behaviour: { maxLimit: 10, ties: 'shuffled', dateFilter: 'ignored' },
    });
    place.submitMany(200, { status: 'DONE' });
    place.submitMany(10, { status: 'NEW' });
    for (let n = 0; n < 25; n++) {
      place.wait(DAY);
      const createdAt = Date.parse(place.store.get(place.submit({ status: 'NEW' }))!.createdAt);
      place.wait(DAY);
      place.submitMany(9, { status: 'NEW' });
      expect((await place.pass('full')).outcome).toBe('ok');
      // Between this one and the one of the same time lies the border of two pages.
      place.submit({ status: 'NEW', createdAt });
      await compare(place);
      const { checkpoint } = await accounted(place);
      const isSame = place.liveIds().join() === place.sourceIds().join();
      expect(isSame || checkpoint?.statuses === null).toBe(true);
    }
  });

  it('L14: and is no reason to read everything at each look, whatever the bounds', async () => {
    for (const rows of [450, 3_000]) {
      const place = await openSynced(rows, { dateFilter: 'ignored' });
      place.store.distort(place.store.ids(FORM)[201] ?? '', { status: null });
      await place.pass('full');
      for (let tick = 0; tick < 3; tick++) {
        await place.clock.sleep(DAY);
        const report = await compare(place);
        expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok' });
        expect(report.requests).toBeLessThan(tick === 0 ? 30 : 12);
        expect((await accounted(place)).checkpoint?.statuses).not.toBeNull();
      }
    }
  });

  it('L17: where an earlier release did not say what has no row, agreement is not taken from counts', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    const forgetEarlier = (): void => {
      using database = new DatabaseSync(place.file());
      database.exec(`UPDATE mirror_checkpoints SET statuses = NULL, unstored = NULL`);
    };
    forgetEarlier();
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', outcome: 'ok' });
    expect((await accounted(place)).checkpoint?.statuses).not.toBeNull();
    await forget(place, [ids[777] ?? '']);
    forgetEarlier();
    place.store.delete(ids[778] ?? '');
    place.store.setStatus(ids[3] ?? '', 'PAID');
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', updated: 1, deleted: 0, absent: 1 });
    expect((await accounted(place)).checkpoint?.statuses).toBeNull();
    await place.clock.sleep(DAY);
    expect(await compare(place)).toMatchObject({ kind: 'full', deleted: 1, absent: 0 });
    expect(inOrder((await accounted(place)).counts)).toEqual(inOrder(sourceCounts(place)));
  });
});

describe('where a comparison by counts may not, or can not, settle it', () => {
  it('L8: more deletions than the brake allows are looked up by nobody', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    for (const id of ids.slice(0, 400)) place.store.delete(id);
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', deleted: 0, absent: 400 });
    expect(place.requests('GET', /\/submissions\/./)).toBe(0);
    expect((await accounted(place)).checkpoint?.statuses).toBeNull();
    await place.clock.sleep(DAY);
    expect(await compare(place)).toMatchObject({
      kind: 'full',
      outcome: 'withheld',
      withheld: 400,
    });
  });

  for (const grain of ['instant', 'day'] as const) {
    it(`L3, L16: bounds may have to be dates, and mean the ${grain}`, async () => {
      const place = await openSynced(4_000, { dateFilter: 'dates-only', dateGrain: grain });
      const ids = place.store.ids(FORM);
      place.store.setStatus(ids[400] ?? '', 'NEW');
      place.store.delete(ids[3_001] ?? '');
      place.store.delete(ids[3_002] ?? '');
      const report = await compare(place);
      expect(report).toMatchObject({ outcome: 'ok', updated: 1, deleted: 2 });
      expect(report.requests).toBeLessThan(50);
      await expectSame(place);
    });
  }

  it('L3, L16: bounds that compare the time of the last change show what changed since', async () => {
    const place = await openSynced(3_600, { dateStamp: 'updated' });
    const ids = place.store.ids(FORM);
    for (let n = 0; n < 300; n++) {
      place.wait(DAY / 4);
      const id = ids[(n * 37) % 1_500] ?? '';
      place.store.setStatus(id, 'PAID');
      place.store.setStatus(id, 'NEW');
    }
    place.wait(place.clock.now() - place.store.now() + DAY);
    await place.pass('full');
    place.wait(DAY);
    const changed = ids.slice(2_400, 2_640).filter((_id, at) => at % 4 === 0);
    for (const id of changed) place.store.setStatus(id, 'NEW');
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', updated: changed.length });
    expect(report.requests).toBeLessThan(100);
    await expectSame(place);
  });

  it('L3: bounds that compare what a status change moves are found out, and what they show is stored', async () => {
    const place = await openSynced(2_600, { dateStamp: 'updated' });
    const ids = place.store.ids(FORM);
    for (const id of ids.slice(100, 103)) place.store.setStatus(id, 'DONE');
    place.store.setStatus(ids[2_221] ?? '', 'PAID');
    const report = await compare(place);
    expect(report.requests).toBeLessThan(80);
    const { counts, checkpoint } = await accounted(place);
    const isSame = inOrder(counts) === inOrder(sourceCounts(place));
    expect(checkpoint?.statuses === null || isSame).toBe(true);
    await place.clock.sleep(DAY);
    await compare(place);
    await expectSame(place);
  });
});
