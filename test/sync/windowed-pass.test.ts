import { describe, expect, it } from 'vitest';
import type { WindowRecord } from '../../src/mirror/window.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

const HOUR_MS = 60 * 60_000;
const PAGE = 10;

/** A form of 200 submissions in 50 days, four a day at odd times, in windows of at most 30. */
async function openLarge(behaviour: Partial<SandboxBehaviour> = {}): Promise<SyncPlace> {
  const place = await SyncPlace.open({
    behaviour: { maxLimit: PAGE, ...behaviour },
    windowSizes: { aim: 30, most: 60 },
  });
  for (let n = 0; n < 200; n++) {
    place.submit();
    place.wait(6 * HOUR_MS);
  }
  return place;
}

async function windowsOf(place: SyncPlace): Promise<readonly WindowRecord[]> {
  await using target = openSqlite('a', place.file(), place.clock);
  return (await (await target.reader(FORM))?.windows()) ?? [];
}

describe('a full pass over a large form', () => {
  it('L1: reads it window by window, and keeps when each was proven', async () => {
    const place = await openLarge();
    const report = await place.pass('full');
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
});
