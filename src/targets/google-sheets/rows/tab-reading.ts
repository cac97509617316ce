import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { type Area, parseRange } from '../api/a1.ts';
import { type ColumnKey, METADATA_KEYS } from '../api/metadata.ts';
import { movedError } from '../api/sheets-error.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import type { ReadValue } from '../api/cell-value.ts';
import type { Layout, PlacedColumn } from '../columns/layout.ts';

/** Cells that one read should answer at most; beyond that a tab is read in pieces (L14). */
export const CELLS_A_READ = 300_000;
/** True for a tab that one read can answer whole. */
export const isSmall = ({ rowCount, columns }: Layout): boolean =>
  rowCount * columns.size <= CELLS_A_READ;

/** Ranges of one read. */
const RANGES_A_READ = 400;

/** Whole columns as they were at one instant, header included: `values[0]` is the grid's first row. */
export interface ColumnsRead {
  readonly columns: ReadonlyMap<
    ColumnKey,
    { readonly index: number; readonly values: readonly ReadValue[] }
  >;
  /** Undefined when the header row is deleted. */
  readonly header: { readonly row: number; readonly cells: readonly ReadValue[] } | undefined;
  /** See {@link Layout.tableHeads}. */
  readonly tableHeads: ReadonlySet<number> | undefined;
  /** The cells of the state tab, row by row, when it was asked for. */
  readonly stateTab: readonly (readonly ReadValue[])[] | undefined;
  /** The rows that were asked for besides. */
  readonly rows: RowsRead;
  /** What {@link ColumnsQuery.areas} hold, row by row, in the same order. */
  readonly areas: readonly AreaRead[];
}

/** The cells of an area, row by row. */
export type AreaRead = readonly (readonly ReadValue[])[];

/** Which columns to read, and what else in the same call. */
export interface ColumnsQuery {
  readonly keys: readonly ColumnKey[];
  readonly stateSheetId?: number | undefined;
  /** Rows to read whole, where columns of ours are. */
  readonly rows?: Span | undefined;
  /** Areas of another tab, each beginning in another row. */
  readonly areas?: readonly sheets_v4.Schema$GridRange[] | undefined;
}

/** Some rows by their places; the end is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Some rows of a tab, cells by column index. */
export type RowsRead = ReadonlyMap<number, readonly ReadValue[]>;

/**
 * Reads whole columns, found by their metadata, wherever people moved them, with the header row: one read, one instant.
 * A column that is gone is missing in the answer.
 */
export async function readColumns(
  api: SheetsApi,
  layout: Layout,
  query: ColumnsQuery,
): Promise<ColumnsRead> {
  const { areas = [] } = query;
  const byMetadata = new Map<number, ColumnKey>();
  for (const key of query.keys) {
    const column = layout.columns.get(key);
    if (column !== undefined) byMetadata.set(column.metadataId, key);
  }
  const filters: sheets_v4.Schema$DataFilter[] = [
    ...[...byMetadata.keys()].map((metadataId) => ({ developerMetadataLookup: { metadataId } })),
    headerFilter(layout.sheetId),
    ...(query.stateSheetId === undefined ? [] : [{ gridRange: { sheetId: query.stateSheetId } }]),
    ...(query.rows === undefined ? [] : [rowsFilter(layout, query.rows)]),
    ...areas.map((gridRange) => ({ gridRange })),
  ];
  const columns = new Map<ColumnKey, { index: number; values: ReadValue[] }>();
  let header: ColumnsRead['header'];
  let stateTab: ColumnsRead['stateTab'];
  let rows: RowsRead = new Map();
  const areasRead: AreaRead[] = areas.map(() => []);
  for (const { valueRange, dataFilters } of await api.values(filters, 'COLUMNS')) {
    const area = parseRange(valueRange?.range ?? '');
    const lists = (valueRange?.values ?? []) as ReadValue[][];
    for (const filter of dataFilters ?? []) {
      const asked = areas.findIndex((one) => isSameStart(one, filter.gridRange));
      if (asked >= 0) areasRead[asked] = transposed(lists);
      else if (filter.gridRange?.startRowIndex !== undefined)
        rows = rowsAt(area, transposed(lists));
      else if (filter.gridRange) stateTab = transposed(lists);
      const { metadataId, metadataKey } = filter.developerMetadataLookup ?? {};
      const key = byMetadata.get(metadataId ?? -1);
      if (key !== undefined && area !== undefined) {
        columns.set(key, { index: area.startColumn, values: lists[0] ?? [] });
      }
      if (metadataKey === METADATA_KEYS.header && area !== undefined) {
        header = { row: area.startRow, cells: lists.map((list) => list[0]) };
      }
    }
  }
  const { tableHeads } = layout;
  return { columns, header, stateTab, rows, areas: areasRead, tableHeads };
}

/** Google leaves out a zero that it was sent. */
const isSameStart = (
  asked: sheets_v4.Schema$GridRange,
  answered: sheets_v4.Schema$GridRange | undefined,
): boolean =>
  answered !== undefined &&
  (answered.sheetId ?? 0) === (asked.sheetId ?? 0) &&
  (answered.startRowIndex ?? 0) === (asked.startRowIndex ?? 0);

/** True when the header row was deleted, or emptied with all that is in it. */
export const isHeaderGone = ({ header }: ColumnsRead): boolean =>
  header === undefined || header.cells.every((cell) => (cell ?? '') === '');

/** Finds the header row by its mark. */
export const headerFilter = (sheetId: number): sheets_v4.Schema$DataFilter => ({
  developerMetadataLookup: {
    metadataKey: METADATA_KEYS.header,
    locationType: 'ROW',
    metadataLocation: { sheetId },
    locationMatchingStrategy: 'INTERSECTING_LOCATION',
  },
});

/** The cells of the state tab alone, row by row. */
export async function readStateTab(api: SheetsApi, sheetId: number): Promise<ReadValue[][]> {
  const [match] = await api.values([{ gridRange: { sheetId } }], 'ROWS');
  return (match?.valueRange?.values ?? []) as ReadValue[][];
}

/**
 * Reads rows by their place, all columns of ours and what lies between. Rows that are beyond the grid by now, or empty,
 * are missing in the answer. As many reads as the size demands.
 */
export async function readRows(
  api: SheetsApi,
  layout: Layout,
  spans: readonly Span[],
): Promise<RowsRead> {
  const [left, right] = columnBounds(layout.columns.values());
  const rows = new Map<number, readonly ReadValue[]>();
  for (const piece of readablePieces(spans, right - left)) {
    const filters = piece.map((span) => rowsFilter(layout, span));
    for (const { valueRange } of await api.values(filters, 'ROWS')) {
      const area = parseRange(valueRange?.range ?? '');
      const lists = (valueRange?.values ?? []) as ReadValue[][];
      for (const [row, cells] of rowsAt(area, lists)) rows.set(row, cells);
    }
  }
  return rows;
}

function rowsFilter(layout: Layout, { start, end }: Span): sheets_v4.Schema$DataFilter {
  const [left, right] = columnBounds(layout.columns.values());
  return {
    gridRange: {
      sheetId: layout.sheetId,
      startRowIndex: start,
      endRowIndex: end,
      startColumnIndex: left,
      endColumnIndex: right,
    },
  };
}

/** Lists of cells as rows of the grid. */
function rowsAt(area: Area | undefined, lists: readonly ReadValue[][]): RowsRead {
  const rows = new Map<number, readonly ReadValue[]>();
  if (area === undefined) return rows;
  for (const [offset, cells] of lists.entries()) {
    const before: ReadValue[] = Array.from({ length: area.startColumn });
    rows.set(area.startRow + offset, before.concat(cells));
  }
  return rows;
}

/** Spans cut and grouped so that no read answers too much. */
function* readablePieces(spans: readonly Span[], width: number): Generator<Span[]> {
  const rowsARead = Math.max(1, Math.floor(CELLS_A_READ / Math.max(1, width)));
  let piece: Span[] = [];
  let room = rowsARead;
  for (const span of spans) {
    for (let { start } = span; start < span.end;) {
      const end = Math.min(span.end, start + room);
      piece.push({ start, end });
      room -= end - start;
      start = end;
      if (room > 0 && piece.length < RANGES_A_READ) continue;
      yield piece;
      piece = [];
      room = rowsARead;
    }
  }
  if (piece.length > 0) yield piece;
}

/** From the leftmost of some columns to behind the rightmost. */
export function columnBounds(columns: Iterable<PlacedColumn>): [left: number, right: number] {
  let [left, right] = [Number.POSITIVE_INFINITY, 0];
  for (const { index } of columns) {
    left = Math.min(left, index);
    right = Math.max(right, index + 1);
  }
  return right === 0 ? [0, 1] : [left, right];
}

function transposed(columns: readonly ReadValue[][]): ReadValue[][] {
  const height = Math.max(0, ...columns.map((column) => column.length));
  return Array.from({ length: height }, (_, row) => columns.map((column) => column[row]));
}

/** The layout with its columns where a read just found them; one that was asked for and not found is gone. */
export function movedTo(layout: Layout, asked: readonly ColumnKey[], read: ColumnsRead): Layout {
  const columns = new Map(layout.columns);
  for (const key of asked) {
    const [old, found] = [columns.get(key), read.columns.get(key)];
    if (old === undefined) continue;
    if (found === undefined) columns.delete(key);
    else columns.set(key, { ...old, index: found.index });
  }
  return { ...layout, columns };
}

/** The same, where none may be missing. Throws SheetsError `moved` when a column is gone: what was planned on it is void. */
export function foundIn(layout: Layout, asked: readonly ColumnKey[], read: ColumnsRead): Layout {
  const moved = movedTo(layout, asked, read);
  if (moved.columns.size < layout.columns.size) throw movedError(layout.title);
  return moved;
}
