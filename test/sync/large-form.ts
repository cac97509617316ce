import { expect } from 'vitest';
import type { WindowRecord } from '../../src/mirror/window.ts';
import type { SandboxBehaviour } from '../../src/sandbox/forms-api/behaviour.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace } from '../support/sync-place.ts';

export const HOUR_MS = 60 * 60_000;

/** A form of 200 submissions in 50 days, four a day, in windows of at most 30 and pages of 10. */
export async function openLarge(behaviour: Partial<SandboxBehaviour> = {}): Promise<SyncPlace> {
  const place = await SyncPlace.open({
    behaviour: { maxLimit: 10, ...behaviour },
    windowSizes: { aim: 30, most: 60 },
  });
  for (let n = 0; n < 200; n++) {
    place.submit();
    place.wait(6 * HOUR_MS);
  }
  return place;
}

/** The same, read in full. */
export async function openSynced(behaviour: Partial<SandboxBehaviour> = {}): Promise<SyncPlace> {
  const place = await openLarge(behaviour);
  expect(await place.pass('full')).toMatchObject({ outcome: 'ok', inserted: 200 });
  return place;
}

/** The windows of its form, as the target has them. */
export async function windowsOf(place: SyncPlace): Promise<readonly WindowRecord[]> {
  await using target = openSqlite('a', place.file(), place.clock);
  return (await (await target.reader(FORM))?.windows()) ?? [];
}
