import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { OPEN_STATUSES, STATUSES } from '../../mirror/types.ts';
import { columnName } from './api/a1.ts';
import { fitText } from './api/cell-value.ts';
import { COLOURS, formatCells, gridRange, HEADER_FORMAT } from './api/formatting.ts';
import { FormFormulas } from './formulas.ts';

type Request = sheets_v4.Schema$Request;
type Cell = { readonly text: string } | { readonly formula: string };

/** A column and the metadata that marks it. */
export interface PlacedColumn {
  readonly index: number;
  readonly metadataId: number;
}

/** A form as the Summary tab shows it, with where its columns are now. */
export interface SummaryForm {
  readonly formId: string;
  readonly sheetId: number;
  readonly name: string;
  /** The tab's title. */
  readonly title: string;
  /** The row with its headers. */
  readonly headerRow: number;
  readonly id: PlacedColumn;
  readonly at: PlacedColumn | undefined;
  readonly status: PlacedColumn | undefined;
  readonly removed: PlacedColumn | undefined;
  readonly questions: readonly SummaryQuestion[];
}

export interface SummaryQuestion {
  readonly column: PlacedColumn;
  readonly listed: number;
  readonly numbers: boolean;
}

/** Columns of a section: a value, its count, its share, the share as a bar; weeks and their submissions. */
export const LABEL = 0;
const COUNT = 1;
const SHARE = 2;
const BAR = 3;
export const WEEK = 5;
export const WEEK_COUNT = 6;
/** Columns that are written; the area right of them is under the charts. */
export const SECTION_WIDTH = 7;
/** The column that charts are anchored to. */
export const CHART = 8;

/** Weeks that are shown, this one included. */
const WEEKS = 26;
/** Signs of a bar for all. */
const BAR_SIGNS = 20;
/** Longest name of a form shown. */
export const MAX_NAME = 200;

/** A form's part of the Summary tab. */
export interface Section {
  readonly requests: readonly Request[];
  /** Rows that it takes, the empty ones below included. */
  readonly height: number;
  /** The rows of the weeks, their header first; undefined where dates have no column. */
  readonly weeks: { readonly start: number; readonly end: number } | undefined;
  /** How many submissions are open, as a formula without `=`; null where statuses have no column. */
  readonly open: string | null;
}

/** The cell with the number of submissions of a part that begins in the row `top`. */
export const totalCell = (top: number): string => `$${columnName(COUNT)}$${top + 2}`;

/** The cell with the number of this week's submissions. */
export const thisWeekCell = ({ end }: NonNullable<Section['weeks']>): string =>
  `$${columnName(WEEK_COUNT)}$${end}`;

/** Lays out a form's part from the row `top` on. */
export function sectionOf(sheetId: number, top: number, form: SummaryForm): Section {
  const page = new Page(sheetId, top);
  const formulas = new FormFormulas(form, form.headerRow);
  page.put(0, LABEL, { text: fitText(form.name).text.slice(0, MAX_NAME).toWellFormed() });
  page.format(0, 1, LABEL, SECTION_WIDTH, {
    backgroundColorStyle: COLOURS.headerBack,
    textFormat: { bold: true, fontSize: 12, foregroundColorStyle: COLOURS.headerText },
  });
  page.put(1, LABEL, { text: 'Submissions' });
  page.put(1, COUNT, { formula: formulas.total() });
  page.format(1, 2, LABEL, COUNT + 1, { textFormat: { bold: true } });
  const copies = formulas.copies();
  const said = `"Rows that repeat a submission and are counted, too: "&${copies}&". See the problems on the tab Mirror."`;
  page.put(2, LABEL, { formula: `IF(${copies}>0;${said};"")` });
  page.format(2, 3, LABEL, COUNT, { textFormat: { italic: true }, wrapStrategy: 'OVERFLOW_CELL' });
  const total = page.cell(1, COUNT);
  let row = 4;
  if (form.status !== undefined) row = putStatuses(page, row, form.status, formulas, total);
  for (const question of form.questions) row = putQuestion(page, row, question, formulas, total);
  const weeks = form.at && putWeeks(page, form.at, formulas, total);
  const height = Math.max(row, weeks === undefined ? 0 : weeks.end + 3) + 1;
  return {
    requests: page.requests(height),
    height,
    weeks: weeks && { start: top + weeks.start, end: top + weeks.end },
    open: openOf(form, formulas),
  };
}

const openOf = ({ status }: SummaryForm, formulas: FormFormulas): string | null =>
  status === undefined
    ? null
    : OPEN_STATUSES.map((open) => formulas.equalTo(status, `"${open}"`)).join('+');

function putStatuses(
  page: Page,
  start: number,
  column: SummaryForm['id'],
  formulas: FormFormulas,
  total: string,
): number {
  page.heading(start, LABEL, ['Status', 'Submissions', 'Share', '']);
  const first = start + 1;
  for (const [nth, status] of STATUSES.entries()) {
    page.put(first + nth, LABEL, { text: status });
    const formula = formulas.equalTo(column, page.cell(first + nth, LABEL));
    page.put(first + nth, COUNT, { formula });
  }
  const last = first + STATUSES.length;
  page.put(last, LABEL, { text: 'Another status, or none' });
  page.put(last, COUNT, { formula: `${total}-SUM(${page.cells(first, last, COUNT)})` });
  page.shares(first, last + 1, total);
  return last + 2;
}

function putQuestion(
  page: Page,
  start: number,
  { column, listed, numbers }: SummaryQuestion,
  formulas: FormFormulas,
  total: string,
): number {
  page.heading(start, LABEL, ['', 'Submissions', 'Share', '']);
  page.put(start, LABEL, { formula: formulas.title(column) });
  const [first, other] = [start + 1, start + 1 + listed];
  const answered = page.cell(other + 1, COUNT);
  page.put(first, LABEL, { formula: formulas.distribution(column, listed, numbers) });
  page.put(other, LABEL, { text: 'Other answers' });
  page.put(other, COUNT, { formula: `${answered}-SUM(${page.cells(first, other, COUNT)})` });
  page.put(other + 1, LABEL, { text: 'All answers' });
  page.put(other + 1, COUNT, { formula: formulas.answered(column) });
  page.put(other + 2, LABEL, { text: 'No answer' });
  page.put(other + 2, COUNT, { formula: `${total}-${answered}` });
  page.shares(first, other + 1, answered);
  page.format(first, other, LABEL, LABEL + 1, {
    horizontalAlignment: 'LEFT',
    wrapStrategy: 'CLIP',
  });
  page.format(other, other + 3, LABEL, COUNT + 1, {
    textFormat: { italic: true, foregroundColorStyle: COLOURS.headerText },
  });
  return other + 4;
}

/** The weeks from Monday on, this one last; submissions of other weeks come below, so that the sum is the whole. */
function putWeeks(
  page: Page,
  column: SummaryForm['id'],
  formulas: FormFormulas,
  total: string,
): { start: number; end: number } {
  const start = 1;
  const first = start + 1;
  const end = first + WEEKS;
  page.heading(start, WEEK, ['Week from', 'Submissions']);
  for (let row = first; row < end; row++) {
    const monday = `TODAY()-WEEKDAY(TODAY();2)+1-${7 * (WEEKS - 1)}`;
    page.put(row, WEEK, { formula: row === first ? monday : `${page.cell(row - 1, WEEK)}+7` });
    const week = page.cell(row, WEEK);
    page.put(row, WEEK_COUNT, { formula: formulas.between(column, week, `${week}+7`) });
  }
  page.put(end, WEEK, { text: 'Earlier' });
  page.put(end, WEEK_COUNT, {
    formula: formulas.between(column, undefined, page.cell(first, WEEK)),
  });
  page.put(end + 1, WEEK, { text: 'Later, no date' });
  page.put(end + 1, WEEK_COUNT, {
    formula: `${total}-SUM(${page.cells(first, end + 1, WEEK_COUNT)})`,
  });
  page.format(first, end, WEEK, WEEK + 1, {
    numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' },
    horizontalAlignment: 'LEFT',
  });
  return { start, end };
}

/** Cells and formats of a section, by rows counted from its top. */
class Page {
  readonly #sheetId: number;
  readonly #top: number;
  readonly #cells = new Map<number, Map<number, Cell>>();
  readonly #formats: Request[] = [];

  constructor(sheetId: number, top: number) {
    this.#sheetId = sheetId;
    this.#top = top;
  }

  put(row: number, column: number, cell: Cell): void {
    const cells = this.#cells.get(row) ?? new Map<number, Cell>();
    this.#cells.set(row, cells.set(column, cell));
  }

  /** The address of a cell, for formulas of this tab. */
  cell(row: number, column: number): string {
    return `$${columnName(column)}$${this.#top + row + 1}`;
  }

  /** The address of some cells of a column; `end` is exclusive. */
  cells(start: number, end: number, column: number): string {
    return `${this.cell(start, column)}:${this.cell(end - 1, column)}`;
  }

  format(
    startRow: number,
    endRow: number,
    startColumn: number,
    endColumn: number,
    format: sheets_v4.Schema$CellFormat,
  ): void {
    const rows = { startRow: this.#top + startRow, endRow: this.#top + endRow };
    const area = { sheetId: this.#sheetId, ...rows, startColumn, endColumn };
    this.#formats.push(formatCells(area, format));
  }

  heading(row: number, column: number, texts: readonly string[]): void {
    for (const [offset, text] of texts.entries()) {
      if (text !== '') this.put(row, column + offset, { text });
    }
    const clipped = { ...HEADER_FORMAT, wrapStrategy: 'CLIP' };
    this.format(row, row + 1, column, column + texts.length, clipped);
  }

  /** Shares of some counts in what a cell says, as percentages and as bars. */
  shares(start: number, end: number, whole: string): void {
    for (let row = start; row < end; row++) {
      const count = this.cell(row, COUNT);
      const share = `IF(ISNUMBER(${count});IF(${whole}>0;${count}/${whole};"");"")`;
      this.put(row, SHARE, { formula: share });
      const shown = this.cell(row, SHARE);
      const bar = `IF(ISNUMBER(${shown});REPT("█";ROUND(${BAR_SIGNS}*${shown};0));"")`;
      this.put(row, BAR, { formula: bar });
    }
    this.format(start, end, SHARE, SHARE + 1, {
      numberFormat: { type: 'PERCENT', pattern: '0%' },
    });
    this.format(start, end, BAR, BAR + 1, {
      textFormat: { foregroundColorStyle: COLOURS.freshText },
    });
  }

  /** All of it. Cells that the formula of another cell fills stay empty. */
  requests(height: number): Request[] {
    const startRow = this.#top;
    const rows = Array.from({ length: height }, (_, row) => ({
      values: Array.from({ length: SECTION_WIDTH }, (__, column) =>
        dataOf(this.#cells.get(row)?.get(column)),
      ),
    }));
    const area = { startRow, endRow: startRow + height, startColumn: 0, endColumn: SECTION_WIDTH };
    const range = gridRange({ sheetId: this.#sheetId, ...area });
    return [{ updateCells: { range, rows, fields: 'userEnteredValue' } }, ...this.#formats];
  }
}

function dataOf(cell: Cell | undefined): sheets_v4.Schema$CellData {
  if (cell === undefined) return {};
  const userEnteredValue =
    'text' in cell ? { stringValue: cell.text } : { formulaValue: `=${cell.formula}` };
  return { userEnteredValue };
}
