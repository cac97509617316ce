import { describe, expect, it } from 'vitest';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const HOUR_MS = 60 * 60_000;

/** A form of 300 submissions an hour apart, in pages of ten: 30 pages. */
async function openSynced(behaviour: Partial<SandboxBehaviour> = {}): Promise<SyncPlace> {
  const place = await SyncPlace.open({ behaviour: { maxLimit: 10, ...behaviour } });
  for (let n = 0; n < 300; n++) {
    place.submit();
    place.wait(HOUR_MS);
  }
  expect((await place.pass('full')).outcome).toBe('ok');
  return place;
}

const dateOf = (place: SyncPlace, at: number): number =>
  Date.parse(place.store.get(place.store.ids(FORM)[at]!)!.createdAt);

// Such a tick used to read the whole list, twice.
describe('an incremental pass over a long list in which something appears with an old date', () => {
  it.each(['newest', 'oldest'] as const)(
    'L16: finds it by counts in a list that begins with the %s',
    async (baseOrder) => {
      const place = await openSynced({ sort: 'ignored', baseOrder });
      const imported = place.submit({ createdAt: dateOf(place, 40) + 1_000, status: 'PAID' });
      const newest = place.submit();
      const report = await place.pass('incremental');
      expect(report).toMatchObject({ kind: 'incremental', outcome: 'ok', inserted: 2, absent: 0 });
      expect(report.requests).toBeLessThan(30);
      expect(place.liveIds()).toContain(imported);
      expect(place.liveIds()).toContain(newest);
      const next = await place.pass('incremental');
      expect(next).toMatchObject({ kind: 'incremental', outcome: 'ok', inserted: 0 });
      expect(next.requests).toBeLessThan(6);
    },
  );

  it('L6: counts one that can not be stored, so that the next one does not look for it again', async () => {
    const place = await openSynced();
    const id = place.submit({ createdAt: dateOf(place, 40) + 1_000 });
    place.store.distort(id, { id: undefined });
    expect(await place.pass('incremental')).toMatchObject({ kind: 'incremental', rejected: 1 });
    expect((await place.pass('incremental')).requests).toBeLessThan(5);
  });

  it('L2: reads everything where the source can not be asked by date', async () => {
    const place = await openSynced({ dateFilter: 'refused', extraStatuses: ['ON_HOLD'] });
    // Too many of its status to be read at once.
    for (let n = 0; n < 2_000; n++) place.submit();
    expect((await place.pass('incremental')).outcome).toBe('ok');
    const imported = place.submit({ createdAt: dateOf(place, 40) + 1_000 });
    expect(await place.pass('incremental')).toMatchObject({ kind: 'full', outcome: 'ok' });
    expect(place.liveIds()).toContain(imported);
  });

  it('L8: reads everything while the brake withholds deletions', async () => {
    const place = await openSynced();
    for (const id of place.store.ids(FORM).slice(100, 200)) place.store.delete(id);
    expect((await place.pass('full')).outcome).toBe('withheld');
    const imported = place.submit({ createdAt: dateOf(place, 40) + 1_000 });
    expect(await place.pass('incremental')).toMatchObject({ kind: 'full', outcome: 'withheld' });
    expect(place.liveIds()).toContain(imported);
  });
});
