import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Cell, PickedField } from '../../../mirror/types.ts';
import {
  cellData,
  needsPlainFormat,
  type ReadValue,
  type SheetValue,
} from '../../../targets/google-sheets/api/cell-value.ts';
import { spansOf } from '../../../targets/google-sheets/api/a1.ts';
import { DATE_FORMAT } from '../../../targets/google-sheets/api/formatting.ts';
import { type ColumnKey, fieldKey } from '../../../targets/google-sheets/api/metadata.ts';
import {
  answerOf,
  marksRemoved,
  RowEncoder,
  type SheetRow,
  timeOf,
} from '../../../targets/google-sheets/rows/row-values.ts';
import type { SerialTime } from '../../../targets/google-sheets/rows/serial-time.ts';
import type { StoredRow } from '../../mirror/port.ts';
import type { SheetField } from './fields.ts';

type Request = sheets_v4.Schema$Request;
export type Columns = ReadonlyMap<ColumnKey, number>;
/** The cells of columns, from the top. */
export type Table = ReadonlyMap<ColumnKey, readonly ReadValue[]>;

/** A row as the store remembers it, without its answers. */
export interface KnownRow {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string | null;
  readonly isDeleted: boolean;
  /** When it was marked deleted (ISO); null where it is not. */
  readonly deletedAt: string | null;
  /** Of its cells, by the columns of the encoder; null before those are known. */
  readonly print: number | null;
}

/** The header over the IDs shows where the headers are, wherever people have sorted or pushed that row. */
const ID_HEADER = 'Submission ID';

/** What rows are written and compared with: our own columns and those of the selected fields. */
export function encoderOf(
  columns: Iterable<ColumnKey>,
  selected: readonly PickedField[],
  time: SerialTime,
): RowEncoder {
  const keys = new Set(selected.map(({ id }) => fieldKey(id)));
  const written = [...columns].filter((key) => !key.startsWith('f:') || keys.has(key));
  return new RowEncoder(written, selected, time);
}

/** The row with the headers; -1 where people deleted it. */
export const headerRowOf = (table: Table): number => (table.get('s:id') ?? []).indexOf(ID_HEADER);

/** In which row each submission is. Of two rows with one ID the upper one counts. */
export function rowsById(table: Table): Map<string, number> {
  const rows = new Map<string, number>();
  const header = headerRowOf(table);
  for (const [row, value] of (table.get('s:id') ?? []).entries()) {
    const id = row === header || value === undefined || value === null ? '' : String(value);
    if (id !== '' && !rows.has(id)) rows.set(id, row);
  }
  return rows;
}

/** The cells of a row by their columns. */
export const cellsIn =
  (table: Table, row: number) =>
  (key: ColumnKey): ReadValue =>
    table.get(key)?.[row] ?? null;

export function knownRow(
  id: string,
  row: number,
  table: Table,
  time: SerialTime,
  encoder: RowEncoder | null,
): KnownRow {
  const read = cellsIn(table, row);
  const removed = read('s:removed');
  const isDeleted = marksRemoved(removed);
  return {
    id,
    status: String(read('s:status') ?? ''),
    createdAt: timeOf(read('s:at'), time),
    isDeleted,
    deletedAt: isDeleted ? timeOf(removed, time) : null,
    print: encoder?.fingerprintOf(read) ?? null,
  };
}

/** A row with its answers, as the port shows it. */
export function storedRow(
  known: KnownRow,
  row: number,
  table: Table,
  fields: readonly SheetField[],
): StoredRow {
  const read = cellsIn(table, row);
  const { id, status, createdAt, deletedAt } = known;
  const cells = new Map<string, Cell>();
  for (const field of fields)
    if (field.column !== null)
      cells.set(field.id, answerOf(read(fieldKey(field.id)), field.content));
  return { id, status, createdAt, deletedAt, cells };
}

/** Values side by side in a row: one write for each stretch of columns, so that what people have in between stays. */
export function writeRow(
  sheetId: number,
  row: number,
  values: ReadonlyMap<ColumnKey, SheetValue>,
  columns: Columns,
): Request[] {
  // The ID is what the row was found by.
  const rest = new Map([...values].filter(([key]) => key !== 's:id'));
  return cellsOf(sheetId, row, rest, columns, 'userEnteredValue');
}

function cellsOf(
  sheetId: number,
  row: number,
  values: ReadonlyMap<ColumnKey, SheetValue>,
  columns: Columns,
  fields: 'userEnteredValue' | 'userEnteredValue,userEnteredFormat',
): Request[] {
  const byColumn = new Map<number, sheets_v4.Schema$CellData>();
  for (const [key, value] of values) {
    const at = columns.get(key);
    const look = fields === 'userEnteredValue' ? {} : formatOf(key, value);
    if (at !== undefined) byColumn.set(at, { ...cellData(value), ...look });
  }
  return spansOf([...byColumn.keys()].toSorted((a, b) => a - b)).map(({ start, end }) => ({
    updateCells: {
      start: { sheetId, rowIndex: row, columnIndex: start },
      rows: [
        { values: Array.from({ length: end - start }, (_, n) => byColumn.get(start + n) ?? {}) },
      ],
      fields,
    },
  }));
}

/** New rows, below everything that is there: by place, so that nothing that moves meanwhile is written over. */
export function appendRows(
  sheetId: number,
  rows: readonly SheetRow[],
  columns: Columns,
): Request[] {
  if (rows.length === 0) return [];
  const width = Math.max(...columns.values()) + 1;
  const data = rows.map(({ values }) => {
    const cells: sheets_v4.Schema$CellData[] = Array.from({ length: width }, () => ({}));
    for (const [key, value] of values) {
      const at = columns.get(key);
      if (at !== undefined) cells[at] = { ...cellData(value), ...formatOf(key, value) };
    }
    return { values: cells };
  });
  return [{ appendCells: { sheetId, rows: data, fields: 'userEnteredValue,userEnteredFormat' } }];
}

/** A new row at a place, where what people laid over the rows above is to take it in, or some cells cannot be written. */
export const placeRow = (
  sheetId: number,
  row: number,
  values: ReadonlyMap<ColumnKey, SheetValue>,
  columns: Columns,
): Request[] => cellsOf(sheetId, row, values, columns, 'userEnteredValue,userEnteredFormat');

function formatOf(
  key: ColumnKey,
  value: SheetValue,
): Pick<sheets_v4.Schema$CellData, 'userEnteredFormat'> {
  const look = { wrapStrategy: 'CLIP', verticalAlignment: 'TOP' };
  if (key === 's:at' || key === 's:removed')
    return { userEnteredFormat: { ...look, numberFormat: DATE_FORMAT } };
  if (needsPlainFormat(value))
    return { userEnteredFormat: { ...look, numberFormat: { type: 'NUMBER', pattern: '0' } } };
  return { userEnteredFormat: look };
}
