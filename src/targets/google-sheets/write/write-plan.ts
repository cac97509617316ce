import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { spansOf } from '../api/a1.ts';
import type { RowChange } from '../rows/row-comparison.ts';
import { groupsOf, type RowGroup } from './row-groups.ts';
import type { SheetRow } from '../rows/row-values.ts';
import { DATE_FORMAT, gridRange, formatCells } from '../api/formatting.ts';
import { MAX_WRITE_BYTES } from '../api/size-limits.ts';
import type { ColumnKey } from '../api/metadata.ts';
import { insertInside } from '../columns/laid-ranges.ts';
import { bytesOf, cellData, needsPlainFormat, type SheetValue } from '../api/cell-value.ts';
import { type Layout, SPARE_ROWS } from '../columns/layout.ts';

type Request = sheets_v4.Schema$Request;

/** Cells of the undo tab at most: it counts towards Google's 10 million. */
const MAX_UNDO_CELLS = 300_000;
/** A batch with less room than this is closed rather than filled up with new rows. */
const WORTHWHILE_BYTES = 200_000;

/** Changed rows, and where the same write keeps their old content on the undo tab. */
export interface KeptGroup extends RowGroup {
  readonly undoRow: number;
}

/** Rows to be inserted together. */
export interface NewBlock {
  readonly row: number;
  readonly rows: readonly SheetRow[];
}

/** One atomic write, without the parts that every write has. */
export interface PlannedBatch {
  readonly requests: Request[];
  readonly groups: KeptGroup[];
  readonly inserted: NewBlock[];
  /** Rows that the undo tab must have. */
  undoRows: number;
}

/** Changes and new rows to be written. Places are those of the last read. */
export interface WritePlanInput {
  readonly layout: Layout;
  /** In grid order, one for each row. */
  readonly changes: readonly RowChange[];
  /** In the order in which they are to appear. */
  readonly newRows: readonly SheetRow[];
  /** New rows go below it. */
  readonly lastRow: number;
  /** Where new rows take their format from: the row above them, or the one below. */
  readonly formatFromAbove: boolean;
  /** True when they are to come into what ends with the last row: a table, a filter. */
  readonly growsRanges: boolean;
  /** True when they come to lie in a table, which may fill empty cells with values of its own. */
  readonly fillsTable: boolean;
  /** The hidden tab that takes the old content of changed cells. */
  readonly undoSheetId: number;
  /** Requests that go before all others, each at most a small part of a batch. */
  readonly first: readonly Request[];
  /** Bytes that every batch needs besides. */
  readonly reservedBytes: number;
}

/**
 * Turns changes and new rows into as few writes as their size allows. Old rows are written first, cell by changed cell,
 * their old content kept on the undo tab. New rows are inserted below the last one, so that nothing people wrote there is ever
 * overwritten, whatever happens between our read and our write; Google Forms does the same.
 */
export function planWrites(input: WritePlanInput): PlannedBatch[] {
  const packer = new Packer(MAX_WRITE_BYTES - input.reservedBytes);
  for (const request of input.first) packer.place(bytesOf(request)).requests.push(request);
  const maxRows = Math.max(1, Math.floor(MAX_UNDO_CELLS / Math.max(1, input.layout.columnCount)));
  for (const group of groupsOf(input.changes, maxRows)) addGroup(packer, input, group, maxRows);
  addNewRows(packer, input);
  return packer.batches;
}

class Packer {
  readonly batches: PlannedBatch[] = [];
  readonly limit: number;
  #used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes left in the batch at hand. */
  get room(): number {
    return this.limit - this.#used;
  }

  /** The batch for something of that size: the one at hand, unless it is full, or a new one. */
  place(bytes: number, isFull: (batch: PlannedBatch) => boolean = () => false): PlannedBatch {
    const last = this.batches.at(-1);
    if (last !== undefined && bytes <= this.room && !isFull(last)) {
      this.#used += bytes;
      return last;
    }
    const batch = emptyBatch();
    this.batches.push(batch);
    this.#used = bytes;
    return batch;
  }
}

/** A batch with nothing in it; `undoRows`: rows of the undo tab that are in use already. */
export const emptyBatch = (undoRows = 0): PlannedBatch => ({
  requests: [],
  groups: [],
  inserted: [],
  undoRows,
});

function addGroup(packer: Packer, input: WritePlanInput, group: RowGroup, maxRows: number): void {
  const { sheetId } = input.layout;
  const writes = group.parts.map(({ column, values }) =>
    updateCells(sheetId, group.row, column, values),
  );
  const formats = group.parts.flatMap(({ column, values }) =>
    values.flatMap((row, y) =>
      row.flatMap((value, x) => plainFormat(sheetId, group.row + y, column + x, value)),
    ),
  );
  const isFull = (batch: PlannedBatch): boolean => batch.undoRows + group.ids.length > maxRows;
  const batch = packer.place(bytesOf(writes) + bytesOf(formats) + 500, isFull);
  keepRows(batch, input, group);
  batch.requests.push(...writes, ...formats);
}

/** Writes cells from one on, row by row; what is null is emptied. */
export const updateCells = (
  sheetId: number,
  row: number,
  column: number,
  values: readonly (readonly SheetValue[])[],
): Request => ({
  updateCells: {
    start: { sheetId, rowIndex: row, columnIndex: column },
    rows: values.map((cells) => ({ values: cells.map(cellData) })),
    fields: 'userEnteredValue',
  },
});

/**
 * Copies the rows of a group to the undo tab, column under column: what their cells held at the moment of the write.
 */
export function keepRows(
  batch: PlannedBatch,
  { layout, undoSheetId }: Pick<WritePlanInput, 'layout' | 'undoSheetId'>,
  group: RowGroup,
): void {
  const whole = { startColumn: 0, endColumn: layout.columnCount };
  const [row, count, undoRow] = [group.row, group.ids.length, batch.undoRows];
  batch.requests.push({
    copyPaste: {
      source: gridRange({ sheetId: layout.sheetId, startRow: row, endRow: row + count, ...whole }),
      destination: gridRange({
        sheetId: undoSheetId,
        startRow: undoRow,
        endRow: undoRow + count,
        ...whole,
      }),
      // Contents only: no formats, no merged cells.
      pasteType: 'PASTE_FORMULA',
    },
  });
  batch.groups.push({ ...group, undoRow });
  batch.undoRows += count;
}

/** A format for a number so long that a cell would hide its last digits. */
function plainFormat(sheetId: number, row: number, column: number, value: SheetValue): Request[] {
  if (!needsPlainFormat(value)) return [];
  const area = {
    sheetId,
    startRow: row,
    endRow: row + 1,
    startColumn: column,
    endColumn: column + 1,
  };
  return [formatCells(area, { numberFormat: { type: 'NUMBER', pattern: '0' } })];
}

interface Segment {
  readonly start: number;
  readonly keys: readonly ColumnKey[];
}

interface NewRow {
  readonly row: SheetRow;
  /** The row's cells, segment by segment. */
  readonly parts: readonly sheets_v4.Schema$RowData[];
  readonly longNumbers: readonly { column: number; value: SheetValue }[];
  readonly bytes: number;
}

function addNewRows(packer: Packer, input: WritePlanInput): void {
  const segments = segmentsOf(input.layout);
  const overhead = 900 + segments.length * 160;
  let [at, rowCount] = [input.lastRow + 1, input.layout.rowCount];
  let chunk: NewRow[] = [];
  let bytes = overhead;
  const flush = (): void => {
    if (chunk.length === 0) return;
    const batch = packer.place(bytes);
    batch.requests.push(...newRowRequests(input, segments, chunk, at, rowCount));
    batch.inserted.push({ row: at, rows: chunk.map(({ row }) => row) });
    rowCount = (at >= rowCount ? at + SPARE_ROWS : rowCount) + chunk.length;
    at += chunk.length;
    [chunk, bytes] = [[], overhead];
  };
  for (const row of input.newRows) {
    const fresh = newRow(row, segments, input.fillsTable);
    const room =
      packer.batches.length > 0 && packer.room >= WORTHWHILE_BYTES ? packer.room : packer.limit;
    if (bytes + fresh.bytes > room) flush();
    chunk.push(fresh);
    bytes += fresh.bytes;
  }
  flush();
}

/** Columns of ours that lie side by side, as stretches to be written together. */
function segmentsOf({ columns }: Layout): Segment[] {
  const places = [...columns].sort(([, a], [, b]) => a.index - b.index);
  return spansOf(places.map(([, { index }]) => index)).map(({ start, end }) => ({
    start,
    keys: places.filter(([, { index }]) => index >= start && index < end).map(([key]) => key),
  }));
}

function newRow(row: SheetRow, segments: readonly Segment[], whole: boolean): NewRow {
  const longNumbers: { column: number; value: SheetValue }[] = [];
  const parts = segments.map(({ start, keys }) => {
    const values = keys.map((key, offset) => {
      const value = row.values.get(key) ?? null;
      if (needsPlainFormat(value)) longNumbers.push({ column: start + offset, value });
      return cellData(value);
    });
    if (whole) return { values };
    while (values.length > 0 && values.at(-1)?.userEnteredValue === undefined) values.pop();
    return values.length === 0 ? {} : { values };
  });
  return { row, parts, longNumbers, bytes: bytesOf(parts) + longNumbers.length * 250 };
}

function newRowRequests(
  input: WritePlanInput,
  segments: readonly Segment[],
  chunk: readonly NewRow[],
  at: number,
  rowCount: number,
): Request[] {
  const { sheetId } = input.layout;
  return [
    ...(at >= rowCount ? spareRows(input.layout, rowCount, at - rowCount + SPARE_ROWS) : []),
    ...(input.growsRanges ? rowsInside(sheetId, at, chunk.length) : [rowsBehind(input, at, chunk)]),
    ...segments.map(({ start }, index) => ({
      updateCells: {
        start: { sheetId, rowIndex: at, columnIndex: start },
        rows: chunk.map(({ parts }) => parts[index] ?? {}),
        fields: 'userEnteredValue',
      },
    })),
    ...chunk.flatMap(({ longNumbers }, offset) =>
      longNumbers.flatMap(({ column, value }) => plainFormat(sheetId, at + offset, column, value)),
    ),
  ];
}

const rowsBehind = (
  { layout: { sheetId }, formatFromAbove }: WritePlanInput,
  at: number,
  chunk: readonly NewRow[],
): Request => ({
  insertDimension: {
    range: { sheetId, dimension: 'ROWS', startIndex: at, endIndex: at + chunk.length },
    inheritFromBefore: formatFromAbove && at > 0,
  },
});

/** Google keeps one colour under both names. */
const GROUND = ['backgroundColor', 'backgroundColorStyle'];

/** Rows that look like the last one, but for a colour that people gave its cells. */
const rowsInside = (sheetId: number, at: number, count: number): Request[] => [
  ...insertInside(sheetId, 'ROWS', at, count),
  formatCells({ sheetId, startRow: at, endRow: at + count }, {}, GROUND),
];

/** Adds empty rows at the end of the grid, with dates shown as dates: new rows take their format from them. */
export function spareRows(
  { sheetId, columns }: Layout,
  rowCount: number,
  length: number,
): Request[] {
  const dates = (['s:at', 's:removed'] satisfies ColumnKey[]).flatMap((key) => {
    const column = columns.get(key)?.index;
    if (column === undefined) return [];
    const area = { sheetId, startRow: rowCount, startColumn: column, endColumn: column + 1 };
    return [formatCells(area, { numberFormat: DATE_FORMAT })];
  });
  return [{ appendDimension: { sheetId, dimension: 'ROWS', length } }, ...dates];
}
