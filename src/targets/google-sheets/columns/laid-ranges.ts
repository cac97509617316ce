import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/*
 * Tables, filters and alternating colours that people lay over a form's tab. Google lets such a range grow where rows or
 * columns come in between its first and its last, and never where they come right behind its last. So what is to be added
 * behind the last row of one is inserted above that row, which is then moved up again: the order is the same, and the
 * range holds what is new. This names no range, so it breaks none that people change meanwhile.
 */

/** Rows or columns from a first one up to behind the last. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** A range that people laid over a tab. Open sides reach to infinity. */
export interface LaidRange {
  readonly rows: Stretch;
  readonly columns: Stretch;
  /** Of a table. */
  readonly tableId: string | undefined;
}

type GridRange = sheets_v4.Schema$GridRange;

const laid = (range: GridRange | undefined, tableId?: string | null): LaidRange[] =>
  range === undefined
    ? []
    : [
        {
          rows: { start: range.startRowIndex ?? 0, end: range.endRowIndex ?? Infinity },
          columns: { start: range.startColumnIndex ?? 0, end: range.endColumnIndex ?? Infinity },
          tableId: tableId ?? undefined,
        },
      ];

/** The ranges that people laid over a tab, as the spreadsheet's structure shows them. */
export const laidRanges = (sheet: sheets_v4.Schema$Sheet): LaidRange[] => [
  ...(sheet.tables ?? []).flatMap(({ range, tableId }) => laid(range, tableId)),
  ...laid(sheet.basicFilter?.range),
  ...(sheet.filterViews ?? []).flatMap(({ range }) => laid(range)),
  ...(sheet.bandedRanges ?? []).flatMap(({ range }) => laid(range)),
];

/** True when a stretch can take in what is added at its end: its last one has another one before it. */
const takesIn = ({ start, end }: Stretch, at: number): boolean => end === at && end - start > 1;

/** True when rows that are added before row `at` should come into a range that ends there. */
export const endsAtRow = (ranges: readonly LaidRange[], at: number): boolean =>
  ranges.some(({ rows }) => takesIn(rows, at));

/** Requests that insert rows or columns before `at`, into the ranges that end there. */
export const insertInside = (
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  at: number,
  count: number,
): sheets_v4.Schema$Request[] => [
  {
    insertDimension: {
      range: { sheetId, dimension, startIndex: at - 1, endIndex: at - 1 + count },
      inheritFromBefore: false,
    },
  },
  {
    moveDimension: {
      source: { sheetId, dimension, startIndex: at - 1 + count, endIndex: at + count },
      destinationIndex: at - 1,
    },
  },
];
