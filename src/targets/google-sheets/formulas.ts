import { columnName, quotedTitle } from './api/a1.ts';
import type { SummaryForm } from './summary-section.ts';

/*
 * The formulas of the Summary tab. Arguments are separated by semicolons, which Sheets reads in every locale, and there are
 * neither decimal fractions nor array literals, which it writes differently from locale to locale.
 *
 * A range begins with the header: rows that people insert right below it then belong to the range. Nothing of a form or its
 * answers is in a formula but the title of its tab.
 */

/** Any text, in COUNTIFS. */
const FILLED = '"?*"';
/** An empty cell. */
const BLANK = '""';

/** Formulas over the tab of one form. All without `=`. */
export class FormFormulas {
  readonly #form: SummaryForm;

  constructor(form: SummaryForm) {
    this.#form = form;
  }

  /** Submissions that are not removed. */
  total(): string {
    return this.#count();
  }

  /** Submissions whose column holds what a cell says. */
  equalTo(column: number, cell: string): string {
    return this.#count(this.#column(column), cell);
  }

  /** Submissions dated from one cell's day on, up to the day that another expression gives. */
  between(column: number, from: string | undefined, to: string): string {
    const dates = this.#column(column);
    const start = from === undefined ? [] : [dates, `">="&${from}`];
    return this.#count(...start, dates, `"<"&${to}`);
  }

  /** Submissions with an answer. */
  answered(column: number): string {
    return this.#count(this.#column(column), '"<>"');
  }

  /**
   * The most frequent answers with how often each was given: as many lines, of two columns. Letter case counts. QUERY gives
   * a column one type, so everything is made text first; a column of numbers is listed in their order instead.
   */
  distribution(column: number, lines: number, numbers: boolean): string {
    const [id, status, removed, answers] = [
      this.#form.id,
      this.#form.status,
      this.#form.removed,
      column,
    ].map((each) => `IFERROR(${this.#column(each)};"")`);
    const wanted = [
      numbers ? `ISNUMBER(${answers})` : `${answers}<>""`,
      `${id}<>""`,
      `${status}<>""`,
      `${removed}=""`,
    ];
    const filtered = `FILTER(${answers}${numbers ? '' : '&""'};${wanted.join(';')})`;
    const order = numbers ? 'Col1' : 'count(Col1) desc, Col1';
    const query = `select Col1, count(Col1) group by Col1 order by ${order} limit ${lines} label count(Col1) ''`;
    return `ARRAYFORMULA(IFNA(QUERY(${filtered};"${query}";0);""))`;
  }

  /** The header cell of a column. */
  header(column: number): string {
    const name = columnName(column);
    return `${quotedTitle(this.#form.title)}!$${name}$${this.#form.headerRow + 1}`;
  }

  #column(column: number): string {
    return `${this.header(column)}:$${columnName(column)}`;
  }

  /**
   * Submissions that meet some criteria: rows with an ID and a status that are not removed. The header row has a header where the
   * mark of removal would be, and people's totals have no status.
   */
  #count(...criteria: readonly string[]): string {
    const { id, status, removed } = this.#form;
    const rows = [
      this.#column(id),
      FILLED,
      this.#column(status),
      FILLED,
      this.#column(removed),
      BLANK,
    ];
    return `COUNTIFS(${[...rows, ...criteria].join(';')})`;
  }
}
