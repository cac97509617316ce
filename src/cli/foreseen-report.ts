import { count, plural } from '../base/format.ts';
import { parseExactJson } from '../forms/exact-json.ts';
import { cellText } from '../mirror/cells.ts';
import { type Cell, JsonText } from '../mirror/types.ts';
import type { RunSubject } from '../sync/events.ts';
import { FORESEEN, type ForeseenCell, type ForeseenChange } from '../sync/dry-run.ts';
import { runName } from './run-report.ts';

type Kind = ForeseenChange['kind'];

/** The changes that one dry run predicts: how many rows of each kind, and the first of them. */
export interface ForeseenRows {
  readonly subject: Pick<RunSubject, 'form' | 'target'>;
  readonly total: Readonly<Record<Kind, number>>;
  /** At most as many of each kind as were asked for. */
  readonly rows: readonly ForeseenChange[];
}

/** Keeps the first `limit` of each kind of change, and counts the others: memory does not grow with the form (L14). */
export class ForeseenCollector {
  readonly #limit: number;
  readonly #total = { inserted: 0, updated: 0, restored: 0, deleted: 0 };
  readonly #rows: ForeseenChange[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(change: ForeseenChange): void {
    this.#total[change.kind] += 1;
    if (this.#total[change.kind] <= this.#limit) this.#rows.push(change);
  }

  of(subject: ForeseenRows['subject']): ForeseenRows {
    return { subject, total: this.#total, rows: this.#rows };
  }
}

const TITLES: Readonly<Record<Kind, string>> = {
  inserted: 'would be new',
  updated: 'would change',
  restored: 'would be restored',
  deleted: 'would be marked deleted',
};

/** Lines for people: each row, and for a changed one its columns; `values` adds their present and future values. */
export function foreseenLines({ subject, total, rows }: ForeseenRows, values: boolean): string[] {
  const lines = FORESEEN.flatMap((kind) => {
    const shown = rows.filter((row) => row.kind === kind);
    const rest = total[kind] - shown.length;
    if (total[kind] === 0) return [];
    return [
      `  ${plural(total[kind], 'row')} ${TITLES[kind]}:`,
      ...shown.map((row) => `    ${row.submissionId}${cellsText(row.cells, values)}`),
      ...(rest > 0 ? [`    … and ${count(rest)} more`] : []),
    ];
  });
  return lines.length === 0 ? [] : ['', runName(subject), ...lines];
}

function cellsText(cells: readonly ForeseenCell[], values: boolean): string {
  if (cells.length === 0) return '';
  const names = cells.map(({ column, before, after }) =>
    values ? `${column} ${valueText(before)} → ${valueText(after)}` : column,
  );
  return `: ${names.join(values ? '; ' : ', ')}`;
}

/** Characters of a value that a line shows. */
const MOST_CHARACTERS = 60;

function valueText(cell: Cell): string {
  if (cell === null) return 'nothing';
  if (typeof cell !== 'string') return cutText(cellText(cell) ?? '');
  return JSON.stringify(cutText(cell));
}

const cutText = (text: string): string =>
  text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1).toWellFormed()}…`;

/** The same for `--json`. */
export function foreseenDocument(
  { subject, total, rows }: ForeseenRows,
  values: boolean,
): Record<string, unknown> {
  const { form, target } = subject;
  const kinds = FORESEEN.map((kind) => {
    const shown = rows.filter((row) => row.kind === kind);
    return [kind, { total: total[kind], rows: shown.map((row) => rowDocument(row, values)) }];
  });
  return { form: form.id, slug: form.slug, target, ...Object.fromEntries(kinds) };
}

const rowDocument = ({ submissionId, cells }: ForeseenChange, values: boolean) => ({
  id: submissionId,
  ...(cells.length === 0
    ? {}
    : {
        columns: cells.map(({ column, fieldId, before, after }) => ({
          column,
          field: fieldId,
          ...(values ? { before: jsonValue(before), after: jsonValue(after) } : {}),
        })),
      }),
});

/** An array or object stays unchanged, with all digits of its numbers. */
const jsonValue = (cell: Cell): unknown =>
  cell instanceof JsonText ? parseExactJson(cell.text) : cell;
