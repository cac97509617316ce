import { describe, expect, it } from 'vitest';
import { FORM } from '../support/sync-place.ts';
import {
  accounted,
  compare,
  DAY,
  expectSame,
  inOrder,
  openSynced,
  sourceCounts,
} from './counted-place.ts';

// What a comparison by counts leaves to a person, or to a pass that reads everything.

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
