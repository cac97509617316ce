import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { OPEN_STATUSES, STATUSES } from '../../mirror/types.ts';
import { columnName } from './api/a1.ts';
import { COLOURS, HEADER_FORMAT } from './api/formatting.ts';
import { FormFormulas } from './formulas.ts';
import { formula, headers, type Page, type PageCell, text, WRAPPED } from './page.ts';

/** A form as the Summary tab shows it, with where its columns are now. */
export interface SummaryForm {
  readonly formId: string;
  readonly name: string;
  /** The tab's title. */
  readonly title: string;
  /** The row with its headers. */
  readonly headerRow: number;
  readonly id: number;
  readonly at: number;
  readonly status: number;
  readonly removed: number;
  readonly questions: readonly SummaryQuestion[];
}

export interface SummaryQuestion {
  readonly column: number;
  readonly listed: number;
  readonly numbers: boolean;
}

/** Columns of a part: a value, its count, its share and the share as a bar; weeks and their submissions. */
const [LABEL, COUNT, SHARE] = [0, 1, 2];
export const WEEK = 5;
/** Columns that are written; the area right of them is under the charts. */
export const SECTION_WIDTH = 7;

/** Weeks that are shown, this one included. */
const WEEKS = 26;
/** Signs of a bar for all. */
const BAR_SIGNS = 20;

/** A form's part of the Summary tab. Formulas are without `=`. */
export interface Section {
  readonly top: number;
  /** The rows of the weeks, their header first. */
  readonly weeks: { readonly start: number; readonly end: number };
  readonly total: string;
  readonly thisWeek: string;
  readonly open: string;
}

type Format = sheets_v4.Schema$CellFormat;
const BOLD: Format = { textFormat: { bold: true } };
const ITALIC: Format = { textFormat: { italic: true, foregroundColorStyle: COLOURS.headerText } };
const ANSWER: Format = { ...WRAPPED, horizontalAlignment: 'LEFT' };
const PERCENT: Format = { numberFormat: { type: 'PERCENT', pattern: '0%' } };
const BAR: Format = { textFormat: { foregroundColorStyle: COLOURS.freshText } };
const DAY: Format = {
  numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' },
  horizontalAlignment: 'LEFT',
  verticalAlignment: 'TOP',
};
const TITLE: Format = {
  backgroundColorStyle: COLOURS.headerBack,
  textFormat: { bold: true, fontSize: 12, foregroundColorStyle: COLOURS.headerText },
};

/** The address of a cell, for formulas of this tab. */
const cell = (row: number, column: number): string => `$${columnName(column)}$${row + 1}`;
/** That of some cells of a column; `end` is exclusive. */
const cells = (start: number, end: number, column: number): string =>
  `${cell(start, column)}:${cell(end - 1, column)}`;

/** Puts a form's part on the page, from the row `top` on. */
export function putSection(page: Page, top: number, form: SummaryForm): Section {
  const formulas = new FormFormulas(form);
  const name = text(form.name, TITLE);
  const blank = { userEnteredFormat: TITLE };
  page.put(top, LABEL, [name, ...Array.from({ length: SECTION_WIDTH - 1 }, () => blank)]);
  const total = cell(top + 1, COUNT);
  page.put(top + 1, LABEL, [text('Submissions', BOLD), formula(formulas.total(), BOLD)]);
  let row = putStatuses(page, top + 3, form.status, formulas, total);
  for (const question of form.questions) row = putQuestion(page, row, question, formulas, total);
  const weeks = putWeeks(page, top + 1, form.at, formulas, total);
  return {
    top,
    weeks,
    total,
    thisWeek: cell(weeks.end - 1, WEEK + 1),
    open: OPEN_STATUSES.map((open) => formulas.equalTo(form.status, `"${open}"`)).join('+'),
  };
}

/** A value with its count, and the share of the count in what a cell says: as a percentage and as a bar. */
function counted(row: number, label: PageCell, count: PageCell, whole: string): PageCell[] {
  const [number, shown] = [cell(row, COUNT), cell(row, SHARE)];
  return [
    label,
    count,
    formula(`IF(ISNUMBER(${number});IF(${whole}>0;${number}/${whole};"");"")`, PERCENT),
    formula(`IF(ISNUMBER(${shown});REPT("█";ROUND(${BAR_SIGNS}*${shown};0));"")`, BAR),
  ];
}

function putStatuses(
  page: Page,
  start: number,
  column: number,
  formulas: FormFormulas,
  total: string,
): number {
  page.put(start, LABEL, headers(['Status', 'Submissions', 'Share', '']));
  const [first, last] = [start + 1, start + 1 + STATUSES.length];
  for (const [nth, status] of STATUSES.entries()) {
    const row = first + nth;
    const count = formula(formulas.equalTo(column, cell(row, LABEL)));
    page.put(row, LABEL, counted(row, text(status), count, total));
  }
  const rest = formula(`${total}-SUM(${cells(first, last, COUNT)})`);
  page.put(last, LABEL, counted(last, text('Another status, or none'), rest, total));
  return last + 2;
}

function putQuestion(
  page: Page,
  start: number,
  { column, listed, numbers }: SummaryQuestion,
  formulas: FormFormulas,
  total: string,
): number {
  const [first, other] = [start + 1, start + 1 + listed];
  const answered = cell(other + 1, COUNT);
  const [, ...rest] = headers(['', 'Submissions', 'Share', '']);
  page.put(start, LABEL, [formula(`${formulas.header(column)}&""`, HEADER_FORMAT), ...rest]);
  // The first formula fills the labels and counts below it.
  for (let row = first; row < other; row++) {
    const label =
      row === first
        ? formula(formulas.distribution(column, listed, numbers), ANSWER)
        : { userEnteredFormat: ANSWER };
    page.put(row, LABEL, counted(row, label, {}, answered));
  }
  const others = formula(`${answered}-SUM(${cells(first, other, COUNT)})`, ITALIC);
  page.put(other, LABEL, counted(other, text('Other answers', ITALIC), others, answered));
  page.put(other + 1, LABEL, [
    text('All answers', ITALIC),
    formula(formulas.answered(column), ITALIC),
  ]);
  page.put(other + 2, LABEL, [text('No answer', ITALIC), formula(`${total}-${answered}`, ITALIC)]);
  return other + 4;
}

/** The weeks from Monday on, this one last; submissions of other weeks come below, so that the sum is the whole. */
function putWeeks(
  page: Page,
  start: number,
  column: number,
  formulas: FormFormulas,
  total: string,
): Section['weeks'] {
  const first = start + 1;
  const end = first + WEEKS;
  page.put(start, WEEK, headers(['Week from', 'Submissions']));
  for (let row = first; row < end; row++) {
    const monday = `TODAY()-WEEKDAY(TODAY();2)+1-${7 * (WEEKS - 1)}`;
    const week = cell(row, WEEK);
    page.put(row, WEEK, [
      formula(row === first ? monday : `${cell(row - 1, WEEK)}+7`, DAY),
      formula(formulas.between(column, week, `${week}+7`)),
    ]);
  }
  const earlier = formulas.between(column, undefined, cell(first, WEEK));
  page.put(end, WEEK, [text('Earlier'), formula(earlier)]);
  const later = `${total}-SUM(${cells(first, end + 1, WEEK + 1)})`;
  page.put(end + 1, WEEK, [text('Later, no date'), formula(later)]);
  return { start, end };
}
