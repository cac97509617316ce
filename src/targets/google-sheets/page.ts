import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellData, fitText } from './api/cell-value.ts';
import {
  BODY_FORMAT,
  columnWidth,
  gridRange,
  growBy,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { hashText } from './api/metadata.ts';
import { freeTabTitle, type SheetFile } from './sheet-file.ts';
import type { Grid, Structure, TabRole } from './structure.ts';

/*
 * A tab of our own that people see, written whole: values and looks of its cells, from its first row on.
 */

type Request = sheets_v4.Schema$Request;
type Format = sheets_v4.Schema$CellFormat;
export type PageCell = sheets_v4.Schema$CellData;

/** Characters of a text on a page. */
const MOST_CHARACTERS = 1_000;

/** A text, shortened if it is long. */
export function text(value: string, userEnteredFormat: Format = BODY_FORMAT): PageCell {
  const fitting = fitText(value).text;
  const short =
    fitting.length <= MOST_CHARACTERS
      ? fitting
      : `${fitting.slice(0, MOST_CHARACTERS).toWellFormed()}…`;
  return { ...cellData(short), userEnteredFormat };
}

export const number = (value: number, userEnteredFormat: Format = BODY_FORMAT): PageCell => ({
  ...cellData(value),
  userEnteredFormat,
});

/** A formula, without its `=`. */
export const formula = (value: string, userEnteredFormat: Format = BODY_FORMAT): PageCell => ({
  userEnteredValue: { formulaValue: `=${value}` },
  userEnteredFormat,
});

/** Headers side by side. */
export const headers = (texts: readonly string[], format: Format = HEADER_FORMAT): PageCell[] =>
  texts.map((each) => text(each, format));

/** Cells by row and column. What is not put stays empty. */
export class Page {
  readonly rows: PageCell[][] = [];

  /** Puts cells side by side. */
  put(row: number, column: number, cells: readonly PageCell[]): void {
    while (this.rows.length <= row) this.rows.push([]);
    const line = this.rows[row] as PageCell[];
    while (line.length < column) line.push({});
    line.splice(column, cells.length, ...cells);
  }

  /** Of all its cells: whether it says something else than before. */
  digest(): string {
    return hashText(JSON.stringify(this.rows), 16);
  }

  /** Requests that write it over everything in the first `width` columns of a tab. `columns`: how many it has at least. */
  write({ sheetId, rowCount, columnCount }: Grid, width: number, columns = width): Request[] {
    const range = gridRange({ sheetId, startRow: 0, startColumn: 0, endColumn: width });
    const fields = 'userEnteredValue,userEnteredFormat';
    return [
      ...growBy(sheetId, 'ROWS', this.rows.length - rowCount),
      ...growBy(sheetId, 'COLUMNS', columns - columnCount),
      { repeatCell: { range, cell: { userEnteredFormat: BODY_FORMAT }, fields } },
      {
        updateCells: {
          start: { sheetId, rowIndex: 0, columnIndex: 0 },
          rows: this.rows.map((values) => ({ values })),
          fields,
        },
      },
    ];
  }
}

/** A new tab for a page. `widths`: of its columns, in pixels; `warning`: shown to people who are about to edit it. */
export interface NewPage {
  readonly role: TabRole;
  readonly title: string;
  readonly index?: number;
  readonly widths: readonly number[];
  readonly warning: string;
}

/** Requests that make the tab of a page. */
export const newPageTab = (
  file: SheetFile,
  { sheetId, rowCount, columnCount }: Grid,
  { titles }: Structure,
  { role, title, index, widths, warning }: NewPage,
): Request[] => [
  {
    addSheet: {
      properties: {
        sheetId,
        title: freeTabTitle(title, titles),
        ...(index !== undefined && { index }),
        gridProperties: { rowCount, columnCount, hideGridlines: true },
      },
    },
  },
  file.markTab(sheetId, role),
  ...widths.map((width, column) => columnWidth(sheetId, column, width)),
  warnBeforeEdits({ sheetId }, warning),
];
