import type { Loss } from '../../../mirror/losses.ts';
import type { ListedRejection } from '../../../mirror/target.ts';
import { isProtection, type Obstacle, readProtections } from '../api/obstacles.ts';
import type { FormSheet } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/*
 * What could not be written because of protections and merged cells. The submissions concerned are listed, each with what
 * is in the way; the state keeps the names of that, so that no look has to read protections where none is.
 */

/** Something in the way of a form's cells, and of how many submissions. */
export interface Blocked {
  /** See {@link Obstacle.name}. */
  readonly name: string;
  readonly submissions: number;
}

/** How many are kept in a state. */
const MAX_KEPT = 8;

/** What stands in the way of listed submissions; `known`: names of what may. */
export function blockedOf(
  known: Iterable<string>,
  listed: readonly Pick<ListedRejection, 'submissionId' | 'reason'>[],
): Blocked[] {
  return [...new Set(known)]
    .map((name): Blocked => {
      const concerned = listed.filter(({ reason }) => reason.includes(name));
      return { name, submissions: new Set(concerned.map((one) => one.submissionId)).size };
    })
    .filter(({ submissions }) => submissions > 0)
    .sort((a, b) => b.submissions - a.submissions || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_KEPT);
}

const asksForProtections = (blocked: readonly Blocked[]): boolean =>
  blocked.some(({ name }) => isProtection(name));

/**
 * What is in the way on all tabs, as it is now: merged cells as the structure showed them and, where a protection was in the
 * way, the protections, with one read.
 */
export async function readObstacles(
  { api, known }: Spreadsheet,
  blocked: readonly Blocked[],
): Promise<Obstacle[]> {
  return [
    ...(asksForProtections(blocked) ? readProtections(await api.protections()) : []),
    ...known.merges,
  ];
}

/** {@link unblocked} of a form that is open: what is in the way is known to its sheet from then on. */
export async function unblockedOf(sheet: FormSheet): Promise<Loss[]> {
  const { blocked } = sheet.view.state;
  if (blocked.length === 0) return [];
  const now = await readObstacles(sheet.spreadsheet, blocked);
  if (asksForProtections(blocked)) sheet.keepProtections(now);
  const sheetId = sheet.view.layout?.sheetId;
  return unblocked(
    { blocked },
    now.filter((one) => one.sheetId === sheetId),
  );
}

/** A loss where something that was in the way is gone from the form's tab: what it kept from being written is found by reading everything. */
export function unblocked(
  { blocked }: Pick<FormState, 'blocked'>,
  now: readonly Obstacle[],
): Loss[] {
  return stillBlocked({ blocked }, now).length === blocked.length ? [] : [{ what: 'unblocked' }];
}

/** What is in the way and is there still. */
export function stillBlocked(
  { blocked }: Pick<FormState, 'blocked'>,
  now: readonly Obstacle[],
): Blocked[] {
  const names = new Set(now.map(({ name }) => name));
  return blocked.filter(({ name }) => names.has(name));
}
