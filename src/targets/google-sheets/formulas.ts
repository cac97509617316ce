import { columnName, quotedTitle } from './api/a1.ts';
import type { ColumnKey } from './api/metadata.ts';
import type { FormDocument } from './state-tab.ts';
import type { FormTab } from './structure.ts';

/*
 * The formulas of the Summary tab, all without `=`. Arguments are separated by semicolons, which Sheets reads in every locale.
 * There are no decimal fractions or array literals, because their notation depends on the locale.
 *
 * A range begins with the header, so that rows that people insert right below it belong to the range. Of a form and its answers, a
 * formula contains only the title of the tab.
 */

/** A form for the Summary tab, with the current places of its columns: all of our own exist, and those of its questions. */
export type SummaryForm = Pick<FormTab, 'sheetId' | 'title' | 'columns' | 'marks'> &
  Pick<FormDocument, 'state' | 'headerRow' | 'questions'>;

/** Any text, in COUNTIFS. */
const FILLED = '"?*"';
/** An empty cell. */
const BLANK = '""';

/** The header cell of a column. */
export function headerCell({ title, columns, headerRow }: SummaryForm, key: ColumnKey): string {
  return `${quotedTitle(title)}!$${columnName(columns.get(key) ?? 0)}$${headerRow + 1}`;
}

/** The cells of a column. */
export const cellsOf = (form: SummaryForm, key: ColumnKey): string =>
  `${headerCell(form, key)}:$${columnName(form.columns.get(key) ?? 0)}`;

/**
 * Submissions that meet some criteria: rows with an ID and a status that are not removed. The header row has a header where the
 * mark of removal would be, and people's totals have no status.
 */
export function countOf(form: SummaryForm, ...criteria: readonly string[]): string {
  const [id, status, removed] = (['s:id', 's:status', 's:removed'] as const).map((key) =>
    cellsOf(form, key),
  );
  return `COUNTIFS(${[id, FILLED, status, FILLED, removed, BLANK, ...criteria].join(';')})`;
}

/**
 * The most frequent answers with how often each was given, in `listed` lines of two columns. Letter case counts. QUERY gives a
 * column one type, so everything is converted to text first.
 */
export function distribution(
  form: SummaryForm,
  { key: question, listed }: SummaryForm['questions'][number],
): string {
  const [id, status, removed, answers] = (['s:id', 's:status', 's:removed', question] as const).map(
    (key) => `IFERROR(${cellsOf(form, key)};"")`,
  );
  const wanted = [`${answers}<>""`, `${id}<>""`, `${status}<>""`, `${removed}=""`];
  const filtered = `FILTER(${answers}&"";${wanted.join(';')})`;
  const query = `select Col1, count(Col1) group by Col1 order by count(Col1) desc, Col1 limit ${listed} label count(Col1) ''`;
  return `ARRAYFORMULA(IFNA(QUERY(${filtered};"${query}";0);""))`;
}
