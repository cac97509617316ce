import { columnName, quotedTitle } from './api/a1.ts';
import type { PlacedColumn, SummaryForm } from './summary-section.ts';

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
type RangeOf = (column: PlacedColumn) => string;

/** Formulas over the tab of one form. All without `=`. */
export class FormFormulas {
  readonly #form: SummaryForm;
  readonly #headerRow: number;

  /** `headerRow`: zero-based. */
  constructor(form: SummaryForm, headerRow: number) {
    this.#form = form;
    this.#headerRow = headerRow;
  }

  /** Submissions that are not removed. */
  total(): string {
    return this.#countFilled(() => '');
  }

  /** Rows that repeat the ID of another one: people copied them. */
  copies(): string {
    const ids = this.#column(this.#form.id);
    return `COUNTA(${ids})-COUNTUNIQUE(${ids})-MAX(0;COUNTIFS(${this.#headers()})-1)`;
  }

  /** Submissions whose column holds what a cell says. `column`: a column that holds other words in its header. */
  equalTo(column: PlacedColumn, cell: string): string {
    return this.#count(`;${this.#column(column)};${cell}`);
  }

  /** Submissions dated from one cell's day on, up to the day that another expression gives. */
  between(column: PlacedColumn, from: string | undefined, to: string): string {
    const dates = this.#column(column);
    const start = from === undefined ? '' : `;${dates};">="&${from}`;
    return this.#count(`${start};${dates};"<"&${to}`);
  }

  /** Submissions with an answer. */
  answered(column: PlacedColumn): string {
    return this.#countFilled((rangeOf) => `;${rangeOf(column)};"<>"`);
  }

  /**
   * The most frequent answers with how often each was given: as many lines, of two columns. Letter case counts. QUERY gives
   * a column one type, so everything is made text first; a column of numbers is listed in their order instead.
   */
  distribution(column: PlacedColumn, lines: number, numbers: boolean): string {
    const { id } = this.#form;
    const [ids, answers] = [this.#column(id), this.#column(column)];
    const texts = `${withoutErrors(answers)}&""`;
    const wanted = numbers ? `ISNUMBER(${answers})` : `${texts}<>""`;
    const rows = `${withoutErrors(ids)}<>${this.header(id)}`;
    const own = `${this.#isFilled()}${this.#isLive()}`;
    const filtered = `FILTER(${numbers ? answers : texts};${wanted};ISTEXT(${ids});${rows}${own})`;
    const order = numbers ? 'Col1' : 'count(Col1) desc, Col1';
    const query = `select Col1, count(Col1) group by Col1 order by ${order} limit ${lines} label count(Col1) ''`;
    return `ARRAYFORMULA(IFNA(QUERY(${filtered};"${query}";0);""))`;
  }

  /** People's present name of a column. A header that is merged with another one, or waits, is empty: that would show as 0. */
  title(column: PlacedColumn): string {
    const header = this.header(column);
    return `IF(${header}="";"(no header)";${header})`;
  }

  /** The header cell of a column. */
  header({ index }: PlacedColumn): string {
    const name = columnName(index);
    return `${quotedTitle(this.#form.title)}!$${name}$${this.#headerRow + 1}`;
  }

  #column(column: PlacedColumn): string {
    return `${this.header(column)}:$${columnName(column.index)}`;
  }

  /**
   * Rows that meet some criteria and are submissions', except for the header and its repetitions by people. People who write a
   * total below their rows may call it so in the column of IDs: a submission has a status or a time, too.
   */
  #countFilled(criteria: (rangeOf: RangeOf) => string): string {
    const { status, at } = this.#form;
    const own = (rangeOf: RangeOf): string[] => {
      const dated = at === undefined ? '' : `;${rangeOf(at)};"<>"`;
      if (status === undefined) return [dated];
      const undated = `;${rangeOf(status)};"<>"`;
      return at === undefined ? [undated] : [undated, `;${rangeOf(status)};""${dated}`];
    };
    const rows = own((column) => this.#column(column)).map((filled) =>
      this.#count(`${filled}${criteria((column) => this.#column(column))}`),
    );
    const headers = own((column) => this.#column(column)).map((filled) => {
      const rest = criteria((column) => this.#column(column));
      return `-COUNTIFS(${this.#headers()}${filled}${rest})`;
    });
    return `${rows.join('+')}${headers.join('')}`;
  }

  /** The criteria that the header row meets, and rows where people repeat it. */
  #headers(): string {
    const ids = this.#column(this.#form.id);
    const signs = ['~', '*', '?'];
    const text = signs.reduce(
      (inner, sign) => `SUBSTITUTE(${inner};"${sign}";"~${sign}")`,
      this.header(this.#form.id),
    );
    return `${ids};${FILLED};${ids};"="&${text}`;
  }

  /** The condition of FILTER that leaves out what {@link #countFilled} does. */
  #isFilled(): string {
    const { status, at } = this.#form;
    const columns = [status, at].filter((column) => column !== undefined);
    if (columns.length === 0) return '';
    return `;${columns.map((column) => `(${withoutErrors(this.#column(column))}<>"")`).join('+')}>0`;
  }

  /** Rows with an ID that meet some criteria, except those marked as removed. */
  #count(criteria: string): string {
    const { id, removed } = this.#form;
    const rows = `${this.#column(id)};${FILLED}${criteria}`;
    if (removed === undefined) return `COUNTIFS(${rows})`;
    const marks = this.#column(removed);
    const without = REMOVED.map((mark) => `-COUNTIFS(${rows};${marks};${mark})`);
    return `COUNTIFS(${rows})${without.join('')}`;
  }

  /** The condition of FILTER that leaves out what {@link REMOVED} does. */
  #isLive(): string {
    const { removed } = this.#form;
    if (removed === undefined) return '';
    const marks = this.#column(removed);
    const at = (place: number, sign: string): string =>
      `(MID(${withoutErrors(marks)};${place};1)="${sign}")`;
    return `;ISNUMBER(${marks})+${at(5, '-')}*${at(8, '-')}*${at(11, 'T')}=0`;
  }
}
