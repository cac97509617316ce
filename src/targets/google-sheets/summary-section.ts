import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { OPEN_STATUSES, STATUSES } from '../../mirror/types.ts';
import { columnName } from './api/a1.ts';
import { HEADER_FORMAT, TONES } from './api/formatting.ts';
import { cellsOf, countOf, distribution, headerCell, type SummaryForm } from './formulas.ts';
import { formula, headers, type Page, type PageCell, text, WRAPPED } from './page.ts';

/** Columns of a section: a value, its count, its share, and the share as a bar; weeks and their submissions. */
const [LABEL, COUNT, SHARE] = [0, 1, 2];
export const WEEK = 5;
/** Columns that are written; the charts cover the area to their right. */
export const SECTION_WIDTH = 7;

/** How many weeks are shown, including the current one. */
const WEEKS = 26;
/** How many signs a full bar has. */
const BAR_SIGNS = 20;

/** A form's section of the Summary tab. Formulas are without `=`. */
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
const ITALIC: Format = { textFormat: { ...TONES.plain.textFormat, italic: true } };
const ANSWER: Format = { ...WRAPPED, horizontalAlignment: 'LEFT' };
const PERCENT: Format = { numberFormat: { type: 'PERCENT', pattern: '0%' } };
const BAR: Format = { textFormat: TONES.fresh.textFormat };
const DAY: Format = {
  numberFormat: { type: 'DATE', pattern: 'yyyy-mm-dd' },
  horizontalAlignment: 'LEFT',
  verticalAlignment: 'TOP',
};
const TITLE: Format = {
  ...TONES.plain,
  textFormat: { ...TONES.plain.textFormat, bold: true, fontSize: 12 },
};

/** The address of a cell, for formulas of this tab. */
const cell = (row: number, column: number): string => `$${columnName(column)}$${row + 1}`;
/** The address of some cells of a column; `end` is exclusive. */
const cells = (start: number, end: number, column: number): string =>
  `${cell(start, column)}:${cell(end - 1, column)}`;

/** Puts a form's section on the page, from row `top` on. */
export function putSection(page: Page, top: number, form: SummaryForm): Section {
  const name = text(form.state.name, TITLE);
  const blank = { userEnteredFormat: TITLE };
  page.put(top, LABEL, [name, ...Array.from({ length: SECTION_WIDTH - 1 }, () => blank)]);
  const total = cell(top + 1, COUNT);
  page.put(top + 1, LABEL, [text('Submissions', BOLD), formula(countOf(form), BOLD)]);
  let row = putStatuses(page, top + 3, form, total);
  for (const question of form.questions) row = putQuestion(page, row, form, question, total);
  const weeks = putWeeks(page, top + 1, form, total);
  return {
    top,
    weeks,
    total,
    thisWeek: cell(weeks.end - 1, WEEK + 1),
    open: OPEN_STATUSES.map((open) => withStatus(form, `"${open}"`)).join('+'),
  };
}

const withStatus = (form: SummaryForm, status: string): string =>
  countOf(form, cellsOf(form, 's:status'), status);

/** A value with its count, and the count's share of the number in a cell, as a percentage and as a bar. */
function counted(row: number, label: PageCell, count: PageCell, whole: string): PageCell[] {
  const [number, shown] = [cell(row, COUNT), cell(row, SHARE)];
  return [
    label,
    count,
    formula(`IF(ISNUMBER(${number});IF(${whole}>0;${number}/${whole};"");"")`, PERCENT),
    formula(`IF(ISNUMBER(${shown});REPT("█";ROUND(${BAR_SIGNS}*${shown};0));"")`, BAR),
  ];
}

function putStatuses(page: Page, start: number, form: SummaryForm, total: string): number {
  page.put(start, LABEL, headers(['Status', 'Submissions', 'Share', '']));
  const [first, last] = [start + 1, start + 1 + STATUSES.length];
  for (const [nth, status] of STATUSES.entries()) {
    const row = first + nth;
    const count = formula(withStatus(form, cell(row, LABEL)));
    page.put(row, LABEL, counted(row, text(status), count, total));
  }
  const rest = formula(`${total}-SUM(${cells(first, last, COUNT)})`);
  page.put(last, LABEL, counted(last, text('Another status'), rest, total));
  return last + 2;
}

function putQuestion(
  page: Page,
  start: number,
  form: SummaryForm,
  question: SummaryForm['questions'][number],
  total: string,
): number {
  const { key, listed } = question;
  const [first, other] = [start + 1, start + 1 + listed];
  const answered = cell(other + 1, COUNT);
  const [, ...rest] = headers(['', 'Submissions', 'Share', '']);
  page.put(start, LABEL, [formula(`${headerCell(form, key)}&""`, HEADER_FORMAT), ...rest]);
  // The first formula fills the labels and counts below it.
  for (let row = first; row < other; row++) {
    const label =
      row === first ? formula(distribution(form, question), ANSWER) : { userEnteredFormat: ANSWER };
    page.put(row, LABEL, counted(row, label, {}, answered));
  }
  const others = formula(`${answered}-SUM(${cells(first, other, COUNT)})`, ITALIC);
  page.put(other, LABEL, counted(other, text('Other answers', ITALIC), others, answered));
  page.put(other + 1, LABEL, [
    text('All answers', ITALIC),
    formula(countOf(form, cellsOf(form, key), '"<>"'), ITALIC),
  ]);
  page.put(other + 2, LABEL, [text('No answer', ITALIC), formula(`${total}-${answered}`, ITALIC)]);
  return other + 4;
}

/** The weeks, which begin on Monday, the current one last. Submissions of other weeks come below, so that the sum is complete. */
function putWeeks(page: Page, start: number, form: SummaryForm, total: string): Section['weeks'] {
  const dates = cellsOf(form, 's:at');
  const first = start + 1;
  const end = first + WEEKS;
  page.put(start, WEEK, headers(['Week from', 'Submissions']));
  for (let row = first; row < end; row++) {
    const monday = `TODAY()-WEEKDAY(TODAY();2)+1-${7 * (WEEKS - 1)}`;
    const week = cell(row, WEEK);
    page.put(row, WEEK, [
      formula(row === first ? monday : `${cell(row - 1, WEEK)}+7`, DAY),
      formula(countOf(form, dates, `">="&${week}`, dates, `"<"&${week}+7`)),
    ]);
  }
  const earlier = countOf(form, dates, `"<"&${cell(first, WEEK)}`);
  page.put(end, WEEK, [text('Earlier'), formula(earlier)]);
  const later = `${total}-SUM(${cells(first, end + 1, WEEK + 1)})`;
  page.put(end + 1, WEEK, [text('Later, no date'), formula(later)]);
  return { start, end };
}
