import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { canonicalTime } from '../../mirror/canonical-time.ts';
import type { CountedRow, Entries } from './accounting.ts';
import type { StoredRow } from '../../mirror/port.ts';
import type { Cell } from '../../mirror/types.ts';
import { spansOf } from './api/a1.ts';
import { cellData, type ReadValue, type SheetValue } from './api/cell-value.ts';
import { growBy, HEADER_FORMAT } from './api/formatting.ts';
import { type ColumnKey, fieldKey } from './api/metadata.ts';
import type { SheetField } from './fields.ts';
import { isWithin } from './obstacles.ts';
import { OWN } from './own-columns.ts';
import { answerOf, type RowEncoder, type SheetRow, timeOf } from './row-values.ts';
import type { SerialTime } from './serial-time.ts';
import type { FormTab } from './structure.ts';

type Request = sheets_v4.Schema$Request;
export type Columns = ReadonlyMap<ColumnKey, number>;
/** The cells of columns, from the top. */
export type Table = ReadonlyMap<ColumnKey, readonly ReadValue[]>;

/** A row as the store remembers it, without its answers. */
export interface KnownRow extends CountedRow {
  /** A digest of its cells, by the columns of the encoder; null until those are known. */
  readonly print: string | null;
}

/**
 * The row with the headers, even after people sorted it into the data or pushed it down; -1 if there is none. A header that people
 * changed is recognized by another one, or by the header over the times.
 */
export function headerRowOf(table: Table): number {
  const found = table.get('s:id')?.indexOf(OWN['s:id'].header) ?? -1;
  if (found >= 0) return found;
  const status = table.get('s:status')?.indexOf(OWN['s:status'].header) ?? -1;
  if (status >= 0) return status;
  const filled = (row: number): number =>
    (['s:id', 's:status'] as const).filter((key) => (table.get(key)?.[row] ?? '') !== '').length;
  const isLabel = (at: ReadValue): boolean =>
    typeof at === 'string' && at !== '' && canonicalTime(at) === null;
  const labels = (table.get('s:at') ?? []).flatMap((at, row) =>
    isLabel(at) && filled(row) > 0 ? [row] : [],
  );
  // People's title above it does not fill all three columns.
  return labels.find((row) => filled(row) === 2) ?? labels[0] ?? -1;
}

/** Where the rows of a tab are, and their oddities. */
export interface Survey {
  /** -1: there is none. */
  readonly headerRow: number;
  /** The row of each submission. If two rows have one ID, the upper one counts. */
  readonly places: ReadonlyMap<string, number>;
  /** Rows with a text as their ID that no row above has, and that are not written by the mirror: people's own, or remains of ours. */
  readonly bare: ReadonlyMap<string, number>;
  /** The row below the last submission. */
  readonly bottom: number;
  /** Rows that repeat the ID of a row above. */
  readonly copies: readonly number[];
  /** Rows with a time and a status, but without an ID. */
  readonly withoutId: readonly number[];
}

/** For a tab that has a header and nothing else. */
export const EMPTY_SURVEY: Survey = {
  headerRow: 0,
  places: new Map(),
  bare: new Map(),
  bottom: 1,
  copies: [],
  withoutId: [],
};

/**
 * Whether a row with an ID shows a status, a time or the mark of a removed submission as the mirror writes them. A row without all
 * of these is a person's, a total or a walk-in, unless its submission has an entry: one without a status and a time always has one.
 * If the source has a submission with the ID of a person's row, that row is filled.
 */
function isWritten(table: Table, row: number): boolean {
  if (typeof table.get('s:removed')?.[row] === 'number') return true;
  const [status, at] = [table.get('s:status')?.[row] ?? '', table.get('s:at')?.[row] ?? ''];
  if (status !== '') return typeof status === 'string';
  return typeof at === 'number' || canonicalTime(String(at)) !== null;
}

/** Looks through the rows of a tab. `entries`: those of its form. */
export function survey(table: Table, entries: Entries): Survey {
  const listed = new Set(entries.values().map(({ id }) => id));
  const textOf = (key: ColumnKey, row: number): string => String(table.get(key)?.[row] ?? '');
  const headerRow = headerRowOf(table);
  const [places, bare] = [new Map<string, number>(), new Map<string, number>()];
  const copies: number[] = [];
  const withoutId: number[] = [];
  let bottom = headerRow + 1;
  const length = Math.max(...[...table.values()].map((cells) => cells.length), 0);
  for (let row = 0; row < length; row++) {
    if (row === headerRow) continue;
    const id = textOf('s:id', row);
    if (id === '') {
      const isDated = typeof table.get('s:at')?.[row] === 'number';
      if (isDated && textOf('s:status', row) !== '') withoutId.push(row);
      continue;
    }
    if (!places.has(id) && !listed.has(id) && !isWritten(table, row)) {
      bare.set(id, bare.get(id) ?? row);
      continue;
    }
    bottom = row + 1;
    if (places.has(id)) copies.push(row);
    else places.set(id, row);
  }
  return { headerRow, places, bare, bottom, copies, withoutId };
}

const reader =
  (table: Table, row: number) =>
  (key: ColumnKey): ReadValue =>
    table.get(key)?.[row] ?? null;

/** The rows of submissions. `encoder`: null if their answers are not needed. */
export const rowsIn = (
  table: Table,
  places: ReadonlyMap<string, number>,
  time: SerialTime,
  encoder: RowEncoder | null,
): Map<string, KnownRow> =>
  new Map(
    [...places].map(([id, row]) => {
      const read = reader(table, row);
      const [status, removed] = [String(read('s:status') ?? ''), read('s:removed')];
      const createdAt = timeOf(read('s:at'), time);
      // A text that people wrote there is not a mark.
      const deletedAt = typeof removed === 'number' ? timeOf(removed, time) : null;
      const print = encoder?.fingerprintOf(read) ?? null;
      return [id, { id, status, createdAt, deletedAt, print }] as const;
    }),
  );

/** A row for the port. `row`: the place of its answers; undefined if they are not wanted. */
export function storedRow(
  { id, status, createdAt, deletedAt }: KnownRow,
  row: number | undefined,
  table: Table,
  fields: readonly SheetField[],
): StoredRow {
  const cells = new Map<string, Cell>();
  if (row === undefined) return { id, status, createdAt, deletedAt, cells };
  const read = reader(table, row);
  for (const field of fields)
    if (field.column !== null)
      cells.set(field.id, answerOf(read(fieldKey(field.id)), field.content));
  // The visible status, which may differ from the counted one.
  return { id, status: String(read('s:status') ?? ''), createdAt, deletedAt, cells };
}

/**
 * Writes adjacent values of a row: one write for each stretch of columns, so that people's cells in between stay. A submission's
 * row keeps its ID, by which it was found, and its format; a header gets both.
 */
export function writeRow(
  sheetId: number,
  row: number,
  values: ReadonlyMap<ColumnKey, SheetValue>,
  columns: Columns,
  isHeader = false,
): Request[] {
  const byColumn = new Map<number, sheets_v4.Schema$CellData>();
  for (const [key, value] of values) {
    const at = columns.get(key);
    if (at === undefined || (key === 's:id' && !isHeader)) continue;
    byColumn.set(at, { ...cellData(value), ...(isHeader && { userEnteredFormat: HEADER_FORMAT }) });
  }
  return spansOf([...byColumn.keys()].toSorted((a, b) => a - b)).map(({ start, end }) => ({
    updateCells: {
      start: { sheetId, rowIndex: row, columnIndex: start },
      rows: [
        { values: Array.from({ length: end - start }, (_, n) => byColumn.get(start + n) ?? {}) },
      ],
      fields: isHeader ? 'userEnteredValue,userEnteredFormat' : 'userEnteredValue',
    },
  }));
}

/**
 * Inserts rows before row `at`, so no row that people move at the same moment is overwritten. People's ranges that end there
 * include the new rows. New rows look like the row above, without its cell color; the first ones (`areFirst`) look like the row
 * below.
 */
export function insertRows(
  { sheetId, rowCount, laid, obstacles }: InsertedInto,
  rows: readonly SheetRow[],
  at: number,
  columns: Columns,
  areFirst: boolean,
): Request[] {
  if (rows.length === 0) return [];
  const width = Math.max(...columns.values()) + 1;
  const data = rows.map(({ values }) => {
    const cells: sheets_v4.Schema$CellData[] = Array.from({ length: width }, () => ({}));
    for (const [key, value] of values) {
      const column = columns.get(key);
      if (column !== undefined) cells[column] = cellData(value);
    }
    return { values: cells };
  });
  const dimension = 'ROWS';
  // Google extends a filter or table if a row is inserted inside it, and never if the row comes right below its last row. So rows
  // are inserted above that last row, which is then moved up again. This names no range, so it damages none that people change at
  // the same moment.
  const isInside =
    laid.some(({ start, end }) => end === at && end - start > 1) &&
    !obstacles.some(({ area }) => isWithin(area, at - 1));
  const startIndex = isInside ? at - 1 : at;
  const end = at + rows.length;
  const source = { sheetId, dimension, startIndex: end - 1, endIndex: end };
  return [
    // Google inserts nothing below the last row of the grid.
    ...growBy(sheetId, dimension, at + 1 - rowCount),
    {
      insertDimension: {
        range: { sheetId, dimension, startIndex, endIndex: startIndex + rows.length },
        inheritFromBefore: !areFirst && !isInside,
      },
    },
    ...(isInside ? [{ moveDimension: { source, destinationIndex: at - 1 } }] : []),
    // The row above may be hidden.
    {
      updateDimensionProperties: {
        range: { sheetId, dimension, startIndex: at, endIndex: end },
        properties: { hiddenByUser: false },
        fields: 'hiddenByUser',
      },
    },
    ...(areFirst ? [] : [withoutColor({ sheetId, startRowIndex: at, endRowIndex: end })]),
    {
      updateCells: {
        start: { sheetId, rowIndex: at, columnIndex: 0 },
        rows: data,
        fields: 'userEnteredValue',
      },
    },
  ];
}

const withoutColor = (range: sheets_v4.Schema$GridRange): Request => ({
  repeatCell: {
    range,
    cell: {},
    fields: 'userEnteredFormat.backgroundColor,userEnteredFormat.backgroundColorStyle',
  },
});

type InsertedInto = Pick<FormTab, 'sheetId' | 'rowCount' | 'laid' | 'obstacles'>;
