import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { countsText, plusCounts, type StatusCounts } from '../../src/mirror/status-counts.ts';
import type { Checkpoint } from '../../src/mirror/types.ts';
import type { PassReport } from '../../src/sync/events.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { FORM, SyncPlace, type SyncPlaceOptions } from '../support/sync-place.ts';

/** In ms. */
export const DAY = 24 * 60 * 60_000;

/** Submissions over many days, mirrored. Most are NEW, and their list has many pages. */
export async function openSynced(
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

/** A pass that compares counts. */
export const compare = (place: SyncPlace): Promise<PassReport> =>
  place.pass('incremental', { compareCounts: true });

/** What the next look compares with the source's counts. */
export async function accounted(
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
export function sourceCounts(place: SyncPlace): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of place.store.ids(FORM)) {
    const status = place.store.get(id)?.status ?? '';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

/** Counts as a text, whatever order they are in. */
export const inOrder = (counts: StatusCounts | null | undefined): string =>
  countsText(counts ?? new Map());

/** The copy has the same submissions in the same statuses, and the checkpoint says so. */
export async function expectSame(place: SyncPlace): Promise<void> {
  const rows = [...place.view().rows(FORM).values()].filter((row) => row._deleted_at === null);
  const stored = rows.map(({ id, status }) => `${id} ${status}`).toSorted();
  const there = place.store.ids(FORM).map((id) => `${id} ${place.store.get(id)?.status}`);
  expect(stored).toEqual(there.toSorted());
  const { checkpoint } = await accounted(place);
  expect(inOrder(checkpoint?.statuses)).toEqual(inOrder(sourceCounts(place)));
}
