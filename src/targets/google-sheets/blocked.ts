import type { ColumnKey } from './api/metadata.ts';
import { keepsFrom, type Obstacle } from './api/obstacles.ts';
import { entryKey, type Entries } from '../../mirror/ledger.ts';
import type { Entry, EntryKind } from '../../mirror/port.ts';
import type { Columns, KnownRow } from './rows.ts';

/*
 * Cells that are not written, because people protected or merged them. Their submission is listed: as rejected, with the status that
 * the source shows, so that it is counted and not written back; or as undecided where the mark of a deleted row is missing.
 */

/** The entry of a submission with such cells. */
export interface BlockedEntry extends Entry {
  readonly status: string;
  readonly blocked: {
    readonly columns: readonly ColumnKey[];
    /** What is in the way, by name. */
    readonly by: readonly string[];
    /** The fingerprint of the row as it should be: as long as that is the same, nothing is to be written. */
    readonly meant: number;
  };
}

/** Where obstacles lie, and the columns under them. */
export interface Obstructed {
  readonly obstacles: readonly Obstacle[];
  readonly columns: Columns;
}

/** Of values for one row, those that can be written, and the columns of the others with what is in their way. */
export interface Split<V> {
  readonly free: ReadonlyMap<ColumnKey, V>;
  readonly columns: readonly ColumnKey[];
  readonly by: readonly string[];
}

export function split<V>(
  { obstacles, columns }: Obstructed,
  row: number,
  values: ReadonlyMap<ColumnKey, V>,
): Split<V> {
  const free = new Map(values);
  const by = new Set<string>();
  const met: ColumnKey[] = [];
  for (const key of obstacles.length === 0 ? [] : values.keys()) {
    const column = columns.get(key);
    const over = column === undefined ? [] : obstacles.filter((one) => keepsFrom(one, row, column));
    if (over.length === 0) continue;
    free.delete(key);
    met.push(key);
    for (const { name } of over) by.add(name);
  }
  return { free, columns: met, by: [...by].toSorted() };
}

const MOST_NAMED = 5;

/** Why a row is not stored as it is. */
export function blockedReason(
  { columns, by }: Pick<Split<unknown>, 'columns' | 'by'>,
  headers: ReadonlyMap<ColumnKey, string>,
): string {
  const named = columns.slice(0, MOST_NAMED).map((key) => `"${headers.get(key) ?? key}"`);
  const more = columns.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''} of its row cannot be written because of ${by.join(' and ')}.`;
}

export const isBlocked = (entry: Entry): entry is BlockedEntry => 'blocked' in entry;

/** Blocked entries by submission. */
export const blockedIn = (entries: Entries): Map<string, BlockedEntry> =>
  new Map(
    [...entries.values()].flatMap((entry) =>
      isBlocked(entry) ? [[entry.id, entry] as const] : [],
    ),
  );

/** Submissions whose cells can be written now. Without a tab none. */
export function freedIn(
  entries: Entries,
  places: ReadonlyMap<string, number>,
  tab: Obstructed | undefined,
): Set<string> {
  const freed = new Set<string>();
  for (const [id, { blocked }] of blockedIn(entries)) {
    const row = places.get(id);
    if (tab === undefined || row === undefined) continue;
    const values = new Map(blocked.columns.map((key) => [key, null]));
    if (split(tab, row, values).columns.length === 0) freed.add(id);
  }
  return freed;
}

/** Rows as they are counted: one with cells that cannot be written with the status that the source shows. */
export function countedRows(
  rows: ReadonlyMap<string, KnownRow>,
  entries: Entries,
): Map<string, KnownRow> {
  const counted = new Map(rows);
  const kind: EntryKind = 'rejected';
  for (const { id, status, createdAt } of blockedIn(entries).values()) {
    const row = counted.get(id);
    if (row !== undefined && entries.has(entryKey({ kind, id })))
      counted.set(id, { ...row, status, createdAt });
  }
  return counted;
}
