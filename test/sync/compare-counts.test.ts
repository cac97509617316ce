import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { totalOf } from '../../src/mirror/status-counts.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

// Statuses, deletions, restorations and imports of any age move the counts by status: halving by date finds them.
import {
  accounted,
  compare,
  DAY,
  expectSame,
  inOrder,
  openSynced,
  sourceCounts,
} from './counted-place.ts';

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

  it('reads a short list instead, and claims no difference', async () => {
    const place = await openSynced(350);
    const asked = await compare(place);
    expect(asked).toMatchObject({ kind: 'incremental', outcome: 'ok', reason: null });
    await place.clock.sleep(60_000);
    expect(await compare(place)).toMatchObject({
      kind: 'full',
      outcome: 'ok',
      updated: 0,
      reason:
        'Counts by status were to be compared; everything is read instead, as the list is short.',
    });
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
    const changing = place.store.ids(FORM).find((id) => place.store.get(id)?.status === 'NEW')!;
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

  it('L17: where it is not known what has no row, agreement is not taken from counts', async () => {
    const place = await openSynced(1_500);
    const ids = place.store.ids(FORM);
    const forgetCounts = (): void => {
      using database = new DatabaseSync(place.file());
      database.exec(`UPDATE mirror_checkpoints SET statuses = NULL, unstored = '[]'`);
    };
    forgetCounts();
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', outcome: 'ok' });
    expect((await accounted(place)).checkpoint?.statuses).not.toBeNull();
    await forget(place, [ids[777] ?? '']);
    forgetCounts();
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
