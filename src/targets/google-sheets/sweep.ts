import type { ReadValue, SheetValue } from './api/cell-value.ts';
import { type ColumnKey, hashText } from './api/metadata.ts';
import { comparable } from './row-values.ts';
import type { Table } from './rows.ts';

/*
 * Finds what a write left in the wrong rows. Google does not refuse a write because people have moved a row. So each batch
 * announces in the hidden tab the rows that it writes by position, and the next writer looks for them.
 */

/** Cells of one row that are written by position. */
export interface WrittenRow {
  /** As the column of IDs shows it there: a submission's ID, or that of the header row. */
  readonly id: string;
  readonly values: ReadonlyMap<ColumnKey, SheetValue>;
}

/** Rows in which the same columns were written, until it is known that the write reached them. */
export interface Announced {
  readonly keys: readonly ColumnKey[];
  /** Each with a digest of its cells; '' if all of them are blank. */
  readonly rows: readonly (readonly [id: string, digest: string])[];
}

/** Announces rows. */
export const announce = (written: readonly WrittenRow[]): Announced[] =>
  [...Map.groupBy(written, ({ values }) => [...values.keys()].join(' ')).values()].map((rows) => {
    const keys = [...(rows[0]?.values.keys() ?? [])];
    return {
      keys,
      rows: rows.map(({ id, values }) => [id, digestOf(keys, (key) => values.get(key))] as const),
    };
  });

/** Without the ID, which is right even in a row where the rest is not. */
function digestOf(
  keys: readonly ColumnKey[],
  valueOf: (key: ColumnKey) => ReadValue | SheetValue,
): string {
  const cells = keys
    .filter((key) => key !== 's:id')
    .map((key) => comparable(key, valueOf(key) ?? ''));
  return cells.every((cell) => cell === '') ? '' : hashText(JSON.stringify(cells), 8);
}

/** Cells of a row that a write put there by mistake. */
export interface Stray {
  readonly row: number;
  /** As the row shows it. */
  readonly id: string;
  /** The cells to empty. Those by which a row with an ID is recognized as ours stay; the comparison writes them again. */
  readonly keys: readonly ColumnKey[];
}

/** Looks for announced rows in the cells of a tab. `missed`: IDs of rows that do not show the written cells. */
export function lookFor(
  announced: readonly Announced[],
  table: Table,
): { readonly missed: ReadonlySet<string>; readonly strays: readonly Stray[] } {
  const length = Math.max(0, ...[...table.values()].map((cells) => cells.length));
  const missed = new Set<string>();
  const found: (Stray & { of: readonly string[] })[] = [];
  for (const { keys, rows } of announced) {
    // People copy rows, so that an ID may be there more than once.
    const unseen = new Map(rows.map((row) => [row.join(' '), row[0]]));
    const isOurs = new Set(unseen.keys());
    const byDigest = Map.groupBy(rows, ([, digest]) => digest);
    for (let row = 0; row < length; row++) {
      const digest = digestOf(keys, (key) => table.get(key)?.[row]);
      const id = String(table.get('s:id')?.[row] ?? '');
      const name = [id, digest].join(' ');
      if (isOurs.has(name)) unseen.delete(name);
      // Blank cells are everywhere.
      else if (digest !== '' && byDigest.has(digest)) {
        const of = (byDigest.get(digest) ?? []).map(([each]) => each);
        const filled = keys.filter((key) => String(table.get(key)?.[row] ?? '') !== '');
        const emptied = filled.filter((key) => id === '' || key.startsWith('f:'));
        found.push({ row, id, keys: emptied, of });
      }
    }
    for (const id of unseen.values()) missed.add(id);
  }
  return { missed, strays: found.filter(({ of }) => of.some((id) => missed.has(id))) };
}
