import { describe, expect, it } from 'vitest';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

// Statuses, deletions and imports of any age move the counts by status; halving by date finds them.

const DAY = 24 * 60 * 60_000;

/** Some submissions a day over many days, synced. */
async function openSynced(submissions: number, options: SyncPlaceOptions = {}): Promise<SyncPlace> {
  const place = await SyncPlace.open(options);
  for (let n = 0; n < submissions; n++) {
    if (n % 30 === 29) place.wait(DAY);
    place.submit({ status: n % 3 === 0 ? 'DONE' : 'NEW' });
  }
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
}

const compare = (place: SyncPlace) => place.pass('incremental', { compareCounts: true });

const agrees = (place: SyncPlace): void => {
  const stored = [...place.view().rows(FORM).values()].filter((row) => row._deleted_at === null);
  const rows = stored.map(({ id, status }) => `${id} ${status}`).toSorted();
  const there = place.store.ids(FORM).map((id) => `${id} ${place.store.get(id)?.status}`);
  expect(rows).toEqual(there.toSorted());
};

describe('a comparison by counts', () => {
  it('L16: finds a status that changed long ago', async () => {
    const place = await openSynced(2_000);
    const [, , , fourth = ''] = place.store.ids(FORM);
    place.store.setStatus(fourth, 'PAID');
    const report = await compare(place);
    expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', updated: 1, deleted: 0 });
    expect(report.requests).toBeLessThan(20);
    agrees(place);
  });
});
