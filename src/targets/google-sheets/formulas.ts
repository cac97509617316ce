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
/** A date of removal is a number; one that a number cannot hold is a text of this shape. */
const REMOVED = ['">0"', '"????-??-??T*"'];

/** Cells, with those that show an error of people's formulas as blank: an error would make FILTER fail. */
const withoutErrors = (cells: string): string => `IFERROR(${cells};"")`;

/** The cells of a column that a formula is about. */
type CellsOf = (column: number) => string;

/** Formulas over the tab of one form. All without `=`. */
export class FormFormulas {
  readonly #form: SummaryForm;

  constructor(form: SummaryForm) {
    this.#form = form;
  }

  /** Submissions that are not removed. */
  total(): string {
    return this.#count(() => '');
  }

  /** Rows that repeat the ID of another one: people copied them. */
  copies(): string {
    const ids = this.#column(this.#form.id);
    return `COUNTA(${ids})-COUNTUNIQUE(${ids})`;
  }

  /** Submissions whose column holds what a cell says. */
  equalTo(column: number, cell: string): string {
    return this.#count((cellsOf) => `;${cellsOf(column)};${cell}`);
  }

  /** Submissions dated from one cell's day on, up to the day that another expression gives. */
  between(column: number, from: string | undefined, to: string): string {
    return this.#count((cellsOf) => {
      const dates = cellsOf(column);
      const start = from === undefined ? '' : `;${dates};">="&${from}`;
      return `${start};${dates};"<"&${to}`;
    });
  }

  /** Submissions with an answer. */
  answered(column: number): string {
    return this.#count((cellsOf) => `;${cellsOf(column)};"<>"`);
  }

  /**
   * The most frequent answers with how often each was given: as many lines, of two columns. Letter case counts. QUERY gives
   * a column one type, so everything is made text first; a column of numbers is listed in their order instead.
   */
  distribution(column: number, lines: number, numbers: boolean): string {
    const { id, status, removed } = this.#form;
    const [ids, answers] = [this.#column(id), this.#column(column)];
    const marks = this.#column(removed);
    const texts = `${withoutErrors(answers)}&""`;
    const at = (place: number, sign: string): string =>
      `(MID(${withoutErrors(marks)};${place};1)="${sign}")`;
    const wanted = [
      numbers ? `ISNUMBER(${answers})` : `${texts}<>""`,
      `ISTEXT(${ids})`,
      `${withoutErrors(ids)}<>${this.header(id)}`,
      // Every submission fills it: people who write a total below may call it so in the column of IDs.
      `${withoutErrors(this.#column(status))}<>""`,
      `ISNUMBER(${marks})+${at(5, '-')}*${at(8, '-')}*${at(11, 'T')}=0`,
    ];
    const filtered = `FILTER(${numbers ? answers : texts};${wanted.join(';')})`;
    const order = numbers ? 'Col1' : 'count(Col1) desc, Col1';
    const query = `select Col1, count(Col1) group by Col1 order by ${order} limit ${lines} label count(Col1) ''`;
    return `ARRAYFORMULA(IFNA(QUERY(${filtered};"${query}";0);""))`;
  }

  /** People's present name of a column. A header that is merged with another one, or waits, is empty: that would show as 0. */
  title(column: number): string {
    const header = this.header(column);
    return `IF(${header}="";"(no header)";${header})`;
  }

  /** The header cell of a column. */
  header(column: number): string {
    const name = columnName(column);
    return `${quotedTitle(this.#form.title)}!$${name}$${this.#form.headerRow + 1}`;
  }

  #column(column: number): string {
    return `${this.header(column)}:$${columnName(column)}`;
  }

  /** Submissions that meet some criteria: rows with an ID that are not removed, without the header row. */
  #count(criteria: (cellsOf: CellsOf) => string): string {
    const { id, status, removed } = this.#form;
    const within = (cellsOf: CellsOf): string => {
      const rows = `${cellsOf(id)};${FILLED};${cellsOf(status)};"<>"${criteria(cellsOf)}`;
      const marks = REMOVED.map((mark) => `;${cellsOf(removed)};${mark}`);
      return `COUNTIFS(${rows})${marks.map((mark) => `-COUNTIFS(${rows}${mark})`).join('')}`;
    };
    const header = within((column) => this.header(column));
    return `${within((column) => this.#column(column))}-(${header})`;
  }
}
