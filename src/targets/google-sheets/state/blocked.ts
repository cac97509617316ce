import type { Loss } from '../../../mirror/losses.ts';
import type { ListedRejection } from '../../../mirror/target.ts';
import { kindOf, type Obstacle, readProtections } from '../api/obstacles.ts';
import type { FormSheet } from './form-sheet.ts';
import type { FormState } from './form-state.ts';
import type { Spreadsheet } from './spreadsheet.ts';

/*
 * What could not be written because of protections, merged cells and heads of tables. The submissions concerned are listed, each with what
 * is in the way; the state keeps the names of that, so that no look has to read protections where none is.
 */

/** Something in the way of a form's cells: of how many submissions, and of how many headers. */
export interface Blocked {
  /** See {@link Obstacle.name}. */
  readonly name: string;
  readonly submissions: number;
  readonly headers: number;
}

/** What a listing says between the cells of a row and what is in their way. */
export const IN_THE_WAY = ' of its row cannot be written because of ';

/** How many are kept in a state. What is in the way besides is found gone by the next comparison. */
const MAX_KEPT = 24;

/** What stands in the way of listed submissions, or as before of headers; `met`: names of what else may. */
export function blockedOf(
  before: readonly Blocked[],
  met: Iterable<string>,
  listed: readonly Pick<ListedRejection, 'submissionId' | 'reason'>[],
): Blocked[] {
  const headers = new Map(before.map((one) => [one.name, one.headers]));
  return kept(
    [...new Set([...headers.keys(), ...met])].map((name): Blocked => {
      const concerned = listed.filter(({ reason }) => reason.includes(name));
      const submissions = new Set(concerned.map((one) => one.submissionId)).size;
      return { name, submissions, headers: headers.get(name) ?? 0 };
    }),
  );
}

/** The same with headers counted anew: what is in the way of each that waits. */
export function withHeaders(
  before: readonly Blocked[],
  waiting: Iterable<readonly Obstacle[]>,
): Blocked[] {
  const headers = new Map<string, number>();
  for (const obstacles of waiting) {
    const names = new Set(obstacles.map(({ name }) => name));
    for (const name of names) headers.set(name, (headers.get(name) ?? 0) + 1);
  }
  const others = [...headers.keys()].filter((name) => before.every((one) => one.name !== name));
  const all = [...before, ...others.map((name) => ({ name, submissions: 0 }))];
  return kept(
    all.map(({ name, submissions }) => ({ name, submissions, headers: headers.get(name) ?? 0 })),
  );
}

/** The same once columns were inserted: `before` and `now`, what there was and is in the way, in one order. */
export function movedAlong(
  blocked: readonly Blocked[],
  before: readonly Obstacle[],
  now: readonly Obstacle[],
): Blocked[] {
  const isSame =
    before.length === now.length && before.every(({ kind }, at) => kind === now[at]?.kind);
  const names = new Map(before.map(({ name }, at) => [name, isSame ? now[at]?.name : name]));
  return blocked.map((one) => Object.assign({}, one, { name: names.get(one.name) ?? one.name }));
}

const kept = (all: readonly Blocked[]): Blocked[] =>
  all
    .filter(({ submissions, headers }) => submissions + headers > 0)
    .sort(
      (a, b) =>
        b.submissions - a.submissions || b.headers - a.headers || (a.name < b.name ? -1 : 1),
    )
    .slice(0, MAX_KEPT);

const asksForProtections = (blocked: readonly Blocked[]): boolean =>
  blocked.some(({ name }) => kindOf(name) === 'protection');

/**
 * What is in the way on all tabs, as it is now: merged cells and tables as the structure showed them and, where a protection was in the
 * way, the protections, with one read.
 */
export async function readObstacles(
  { api, known }: Spreadsheet,
  blocked: readonly Blocked[],
): Promise<Obstacle[]> {
  return [
    ...(asksForProtections(blocked) ? readProtections(await api.protections()) : []),
    ...known.overlays,
  ];
}

/** True when a header waits that nothing is in the way of any more. Reads what is in the way, where one waits. */
export async function isHeaderFree(sheet: FormSheet): Promise<boolean> {
  const blocked = sheet.view.state.blocked.filter(({ headers }) => headers > 0);
  if (blocked.length === 0) return false;
  const now = await obstaclesNow(sheet, blocked);
  return stillBlocked({ blocked }, now).length < blocked.length;
}

/** {@link unblocked} of a form that is open: what is in the way is known to its sheet from then on. */
export async function unblockedOf(sheet: FormSheet): Promise<Loss[]> {
  const { blocked } = sheet.view.state;
  return blocked.length === 0 ? [] : unblocked({ blocked }, await obstaclesNow(sheet, blocked));
}

async function obstaclesNow(sheet: FormSheet, blocked: readonly Blocked[]): Promise<Obstacle[]> {
  const now = await readObstacles(sheet.spreadsheet, blocked);
  if (asksForProtections(blocked)) sheet.keepProtections(now);
  const sheetId = sheet.view.layout?.sheetId;
  return now.filter((one) => one.sheetId === sheetId);
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
