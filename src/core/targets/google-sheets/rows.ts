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

/** The header over the IDs, which is one of them where people sorted it in among the rows. */
const ID_HEADER = 'Submission ID';

/** What rows are written and compared with: our own columns and those of the selected fields. */
export function encoderOf(
  columns: Columns,
  selected: readonly PickedField[],
  time: SerialTime,
): RowEncoder {
  const keys = new Set(selected.map(({ id }) => fieldKey(id)));
  const written = [...columns.keys()].filter((key) => !key.startsWith('f:') || keys.has(key));
  return new RowEncoder(written, selected, time);
}

/** Lines of a tab that are rows of submissions, by ID. Of two with one ID the upper one counts. */
export function linesById(
  lines: readonly (readonly ReadValue[])[],
  columns: Columns,
): Map<string, readonly ReadValue[]> {
  const at = columns.get('s:id') ?? -1;
  const found = new Map<string, readonly ReadValue[]>();
  for (const line of lines.slice(1)) {
    const id = idOf(line[at]);
    if (id !== null && !found.has(id)) found.set(id, line);
  }
  return found;
}

/** In which row each submission is, by a column of IDs that was just read. */
export function rowsById(ids: readonly ReadValue[]): Map<string, number> {
  const rows = new Map<string, number>();
  for (const [row, value] of ids.entries()) {
    const id = row === 0 ? null : idOf(value);
    if (id !== null && !rows.has(id)) rows.set(id, row);
  }
  return rows;
}

function idOf(value: ReadValue): string | null {
  if (value === undefined || value === null || value === '' || value === ID_HEADER) return null;
  return String(value);
}

const reader =
  (line: readonly ReadValue[], columns: Columns) =>
  (key: ColumnKey): ReadValue => {
    const at = columns.get(key);
    return at === undefined ? null : line[at];
  };

export function knownRow(
  id: string,
  line: readonly ReadValue[],
  columns: Columns,
  time: SerialTime,
  encoder: RowEncoder | null,
): KnownRow {
  const read = reader(line, columns);
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
  row: KnownRow,
  line: readonly ReadValue[],
  columns: Columns,
  fields: readonly SheetField[],
): StoredRow {
  const read = reader(line, columns);
  const { id, status, createdAt, isDeleted } = row;
  const cells = new Map<string, Cell>();
  for (const field of fields)
    if (field.column !== null)
      cells.set(field.id, answerOf(read(fieldKey(field.id)), field.content));
  return { id, status, createdAt, isDeleted, cells };
}

/** Values side by side in a row: one write for each stretch of columns, so that what people have in between stays. */
export function writeRow(
  sheetId: number,
  row: number,
  values: ReadonlyMap<ColumnKey, SheetValue>,
  columns: Columns,
): Request[] {
  const byColumn = new Map<number, SheetValue>();
  for (const [key, value] of values) {
    const at = columns.get(key);
    // The ID is what the row was found by.
    if (at !== undefined && key !== 's:id') byColumn.set(at, value);
  }
  return spansOf([...byColumn.keys()].toSorted((a, b) => a - b)).map(({ start, end }) => ({
    updateCells: {
      start: { sheetId, rowIndex: row, columnIndex: start },
      rows: [
        {
          values: Array.from({ length: end - start }, (_, n) =>
            cellData(byColumn.get(start + n) ?? null),
          ),
        },
      ],
      fields: 'userEnteredValue',
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
