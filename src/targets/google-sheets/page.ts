import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { safeText } from '../../base/errors.ts';
import { cellData } from './api/cell-value.ts';
import {
  BODY_FORMAT,
  columnWidth,
  growBy,
  HEADER_FORMAT,
  warnBeforeEdits,
} from './api/formatting.ts';
import { hashText } from './api/metadata.ts';
import { freeTabTitle, NOTHING, type SheetFile, type Shown, type View } from './sheet-file.ts';
import { recordKey, type StateKey, textIn } from './state-tab.ts';
import {
  type Grid,
  type OwnTab,
  protectionsOf,
  type Structure,
  type TabRole,
} from './structure.ts';

/* A tab of our own for people, written whole: values and formats of its cells, from its first row on. */

type Request = sheets_v4.Schema$Request;
type Format = sheets_v4.Schema$CellFormat;
export type PageCell = sheets_v4.Schema$CellData;

/** Characters of a text on a page. */
const MOST_CHARACTERS = 1_000;

/** A text that is shown in full, in as many lines as it needs. */
export const WRAPPED: Format = { ...BODY_FORMAT, wrapStrategy: 'WRAP' };

/** A text, shortened if it is long. */
export const text = (value: string, userEnteredFormat: Format = BODY_FORMAT): PageCell => ({
  ...cellData(safeText(value, MOST_CHARACTERS)),
  userEnteredFormat,
});

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
export const headers = (texts: readonly string[]): PageCell[] =>
  texts.map((each) => text(each, HEADER_FORMAT));

/** Cells by row and column. All others stay empty. */
export class Page {
  readonly rows: PageCell[][] = [];

  /** Puts cells side by side. */
  put(row: number, column: number, cells: readonly PageCell[]): void {
    while (this.rows.length <= row) this.rows.push([]);
    const line = this.rows[row] as PageCell[];
    while (line.length < column) line.push({});
    line.splice(column, cells.length, ...cells);
  }
}

/** The wanted content of a tab of our own. */
export interface OwnPage {
  readonly role: TabRole;
  readonly page: Page;
  /** The number of columns that are written, from the first one on. */
  readonly width: number;
  /** For a tab that does not exist yet. `warning` is shown to people who are about to edit it. */
  readonly made: {
    readonly title: string;
    readonly index: number;
    /** Widths of its first columns, in pixels. */
    readonly widths: readonly number[];
    readonly columnCount: number;
    readonly warning: string;
  };
  /** Tabs and columns in its formulas: if one is made again, Google has damaged the formulas. */
  readonly uses?: unknown;
  /** What lies over its cells. `tab`: null if the tab is being made. */
  readonly over: (sheetId: number, tab: OwnTab | null) => Request[];
}

/** The record of a page's content. Without it, the page is written again. */
export const digestKey = (role: TabRole): StateKey => recordKey(`${role} tab`);

/**
 * Writes a page over everything in its columns if its text has changed, and makes its tab if it is missing. A tab that people
 * protect stays unchanged.
 */
export function showPage(file: SheetFile, { structure, stateTab }: View, own: OwnPage): Shown {
  const { role, page, width, made, uses, over } = own;
  const tab = structure.own.get(role) ?? null;
  const digest = hashText(JSON.stringify([page.rows, uses]), 16);
  const isProtected = tab !== null && protectionsOf(tab).length > 0;
  if (isProtected || (tab !== null && textIn(stateTab, digestKey(role)) === digest)) return NOTHING;
  const { columnCount } = made;
  const grid = tab ?? { sheetId: file.newId(), rowCount: page.rows.length, columnCount };
  const { sheetId } = grid;
  const range = { sheetId, startRowIndex: 0, startColumnIndex: 0, endColumnIndex: width };
  const start = { sheetId, rowIndex: 0, columnIndex: 0 };
  const fields = 'userEnteredValue,userEnteredFormat';
  return {
    requests: [
      ...(tab === null ? newTab(file, grid, structure, own) : []),
      ...growBy(sheetId, 'ROWS', page.rows.length - grid.rowCount),
      ...growBy(sheetId, 'COLUMNS', columnCount - grid.columnCount),
      { repeatCell: { range, cell: { userEnteredFormat: BODY_FORMAT }, fields } },
      { updateCells: { start, rows: page.rows.map((values) => ({ values })), fields } },
      ...over(sheetId, tab),
    ],
    put: [{ ...digestKey(role), text: digest }],
  };
}

function newTab(
  file: SheetFile,
  { sheetId, rowCount, columnCount }: Grid,
  { titles }: Structure,
  { role, made: { title, index, widths, warning } }: OwnPage,
): Request[] {
  const gridProperties = { rowCount, columnCount, hideGridlines: true };
  const properties = { sheetId, title: freeTabTitle(title, titles), index, gridProperties };
  return [
    { addSheet: { properties } },
    file.markTab(sheetId, role),
    ...widths.map((each, column) => columnWidth(sheetId, column, each)),
    warnBeforeEdits({ sheetId }, warning),
  ];
}
