import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { safeText } from '../../base/errors.ts';
import { entryKey, type Entries } from './accounting.ts';
import type { Entry, EntryKind } from '../../mirror/port.ts';
import { columnName } from './api/a1.ts';
import type { ColumnKey } from './api/metadata.ts';
import { allowRemedy } from './api/sheets-error.ts';
import type { Columns, KnownRow, Survey } from './rows.ts';

/*
 * Cells that are not written because people protected or merged them. Google refuses a whole write that touches one cell of a hard
 * protection, and does not document what it does with a value for a cell under a merge. The submission of such a cell is listed: as
 * rejected, with the status that the source shows, so that it is counted, and neither claimed nor written back; or as undecided if the mark of a
 * deleted row is missing.
 */

/** A part of a tab's grid. Indexes count from 0, ends are exclusive; open ends reach to infinity. */
interface Area {
  readonly startRow: number;
  readonly endRow: number;
  readonly startColumn: number;
  readonly endColumn: number;
}

/** A protected range that the account may not edit, or merged cells, of which all but the first are covered. */
export interface Obstacle {
  readonly kind: 'protection' | 'merge';
  readonly area: Area;
  /** A phrase for use in a sentence. */
  readonly name: string;
}

/** The remedy for people. `email`: the address of the account that writes. */
export const remedyOf = (kind: Obstacle['kind'], email: string | undefined): string =>
  kind === 'merge' ? 'Unmerge them (Format › Merge cells › Unmerge).' : allowRemedy(email);

/** The most characters of a protection's description. */
const MAX_DESCRIPTION = 80;

/** The protections of a tab that do not let the account write, and its merged cells. Leaves out protections that only warn. */
export const readObstacles = ({ protectedRanges, merges }: sheets_v4.Schema$Sheet): Obstacle[] => [
  ...(protectedRanges ?? [])
    .filter((one) => one.warningOnly !== true && one.requestingUserCanEdit !== true)
    .map(({ description, range }): Obstacle => {
      const area = areaOf(range);
      const called = description ? `"${safeText(description, MAX_DESCRIPTION)}" ` : '';
      const name = `the protected range ${called}(${cellsText(area)})`;
      return { kind: 'protection', area, name };
    }),
  ...(merges ?? []).map((range): Obstacle => {
    const area = areaOf(range);
    return { kind: 'merge', area, name: `merged cells (${cellsText(area)})` };
  }),
];

/** Whether an obstacle keeps a cell from being written. */
export const keepsFrom = ({ kind, area }: Obstacle, row: number, column: number): boolean =>
  isWithin(area, row) &&
  column >= area.startColumn &&
  column < area.endColumn &&
  // Merged cells show the first of them.
  (kind === 'protection' || row !== area.startRow || column !== area.startColumn);

/** The obstacles to inserting rows above a row: Google refuses that inside a protected range. */
export const insertionObstacles = (obstacles: readonly Obstacle[], row: number): Obstacle[] =>
  obstacles.filter(({ area }) => row > area.startRow && row < area.endRow);

/** Obstacles in a sentence. */
export const namesOf = (obstacles: readonly Obstacle[]): string =>
  [...new Set(obstacles.map(({ name }) => name))].toSorted().join(' and ');

/** Whether an obstacle prevents inserting columns before a column: Google refuses that inside a protected range, too. */
export const keepsFromInsertingColumn = ({ kind, area }: Obstacle, column: number): boolean =>
  kind === 'protection' && column > area.startColumn && column < area.endColumn;

/** Whether a row is inside an area. */
export const isWithin = ({ startRow, endRow }: Obstacle['area'], row: number): boolean =>
  row >= startRow && row < endRow;

const areaOf = (range: sheets_v4.Schema$GridRange | undefined): Area => ({
  startRow: range?.startRowIndex ?? 0,
  endRow: range?.endRowIndex ?? Infinity,
  startColumn: range?.startColumnIndex ?? 0,
  endColumn: range?.endColumnIndex ?? Infinity,
});

/** Cells in people's notation: `C5:C20`, `C:C`, `5:20`, `C5:C`; `all cells`. */
function cellsText({ startRow, endRow, startColumn, endColumn }: Area): string {
  const isAllRows = startRow === 0 && endRow === Infinity;
  const isAllColumns = startColumn === 0 && endColumn === Infinity;
  if (isAllRows && isAllColumns) return 'all cells';
  const [top, bottom] = isAllRows
    ? ['', '']
    : [String(startRow + 1), endRow === Infinity ? '' : String(endRow)];
  const left = isAllColumns ? '' : columnName(startColumn);
  const right = endColumn === Infinity ? '' : columnName(endColumn - 1);
  const [from, to] = [`${left}${top}`, `${right}${bottom}`];
  return from === to && bottom !== '' && right !== '' ? from : `${from}:${to}`;
}

/** The obstacles, and the columns under them. */
export interface Obstructed {
  readonly obstacles: readonly Obstacle[];
  readonly columns: Columns;
}

/** The values for one row that can be written, and the columns of the others with their obstacles. */
interface Split<V> {
  readonly free: ReadonlyMap<ColumnKey, V>;
  readonly blocked: readonly ColumnKey[];
  readonly by: readonly Obstacle[];
}

/** Splits the values for one row. */
export function split<V>(
  { obstacles, columns }: Obstructed,
  row: number,
  values: ReadonlyMap<ColumnKey, V>,
): Split<V> {
  const free = new Map(values);
  const by = new Set<Obstacle>();
  const blocked: ColumnKey[] = [];
  for (const key of obstacles.length === 0 ? [] : values.keys()) {
    const column = columns.get(key);
    const over = column === undefined ? [] : obstacles.filter((one) => keepsFrom(one, row, column));
    if (over.length === 0) continue;
    free.delete(key);
    blocked.push(key);
    for (const one of over) by.add(one);
  }
  return { free, blocked, by: [...by] };
}

/** The entry of a submission with some cells that are not written. */
export interface BlockedEntry extends Entry {
  readonly status: string;
  readonly blocked: readonly ColumnKey[];
}

/** All such entries. */
export const blockedIn = (entries: Entries): BlockedEntry[] =>
  [...entries.values()].filter((entry): entry is BlockedEntry => 'blocked' in entry);

/** The obstacles that now keep the cells of an entry from being written or, if it has no row, a row from being inserted. */
export function obstaclesOf(
  { id, blocked }: BlockedEntry,
  { places, bottom }: Pick<Survey, 'places' | 'bottom'>,
  tab: Obstructed & { readonly rowCount: number },
): readonly Obstacle[] {
  const row = places.get(id);
  if (row === undefined) return insertionObstacles(tab.obstacles, Math.min(bottom, tab.rowCount));
  return split(tab, row, new Map(blocked.map((key) => [key, null]))).by;
}

/** Rows for counting. A row with cells that cannot be written has the status that the source shows. */
export function countedRows(
  rows: ReadonlyMap<string, KnownRow>,
  entries: Entries,
): Map<string, KnownRow> {
  const counted = new Map(rows);
  const kind: EntryKind = 'rejected';
  for (const { id, status, createdAt } of blockedIn(entries)) {
    const row = counted.get(id);
    if (row !== undefined && entries.has(entryKey({ kind, id })))
      counted.set(id, { ...row, status, createdAt });
  }
  return counted;
}
