import type { Traces } from '../../../mirror/erasure.ts';
import { listable } from '../row-batch.ts';
import { isHistory } from '../row-history.ts';
import { LIMITS } from './answer-values.ts';
import type { ErasedTable } from './erased-tables.ts';
import type { FormState, StateField } from './form-state.ts';
import { versionColumns } from './row-versions.ts';
import { listParameter, named, textParameter, timeParameter } from './sql-text.ts';
import type { Store } from './store.ts';
import { type HeldForm, locate, storableIds } from './table-reads.ts';
import { columnParts } from './table-columns.ts';

/** IDs as they stand in tables, and as rejections of them would be listed. */
export const listedIds = (ids: readonly string[]): string[] => [
  ...new Set([
    ...storableIds(ids),
    ...ids.map(
      (submissionId) => listable({ submissionId, reason: '', stored: false }, LIMITS).submissionId,
    ),
  ]),
];

/** What is held of submissions; `isOfForm`: false where only tables hold any of which nobody can tell the form. */
export interface CountedTraces {
  readonly traces: Traces;
  readonly isOfForm: boolean;
}

/** Counts what is held of these submissions, in `others` as well. */
export async function countTraces(
  store: Store,
  formId: string,
  held: HeldForm | undefined,
  others: readonly ErasedTable[],
  ids: readonly string[],
): Promise<CountedTraces> {
  const rows = held === undefined ? 0 : (await locate(store, held, ids)).length;
  const listed = (table: string): string =>
    `(SELECT COUNT(*) FROM ${store.relation(table)} WHERE form_id = @form AND submission_id IN UNNEST(@ids))`;
  const inOthers = others.map(
    ({ name }, at) =>
      `, (SELECT COUNT(*) FROM ${store.relation(name)} WHERE id IN UNNEST(@ids)) AS n${at}`,
  );
  const [row] = await store.query({
    sql: `SELECT ${listed('mirror_rejected')} AS listings, ${listed('mirror_refusals')} AS refusals,
      ${listed('mirror_status_history')} AS statuses${inOthers.join('')}`,
    parameters: { form: textParameter(formId), ids: listParameter(listedIds(ids)) },
  });
  const number = (column: string): number => Number(row?.[column] ?? 0);
  const sum = (isCounted: (table: ErasedTable) => boolean): number =>
    others.reduce((n, table, at) => n + (isCounted(table) ? number(`n${at}`) : 0), 0);
  const traces = {
    rows: rows + sum(({ holds }) => holds === 'rows'),
    listings: number('listings'),
    refusals: number('refusals'),
    history: number('statuses') + sum(({ holds }) => holds === 'versions'),
  };
  const unknown = sum(({ isOfForm }) => !isOfForm);
  const all = Object.values(traces).reduce((n, count) => n + count, 0);
  return { traces, isOfForm: all > unknown };
}

/** Condition: the row has no ID, as people emptied it, and was marked deleted before `@before`. */
export const NAMELESS_DELETED = 't.id IS NULL AND t._deleted_at < @before';

/**
 * SELECT of the IDs of what was marked deleted before `@before`, every row of it that people made, and of what has versions alone, the
 * last of which ended before then.
 */
export async function selectDeleted(store: Store, held: HeldForm): Promise<string> {
  const rows = `SELECT t.id FROM ${held.relation} AS t WHERE t.id IS NOT NULL
    GROUP BY t.id HAVING COUNT(*) = COUNTIF(t._deleted_at < @before)`;
  const history = await heldHistory(store, held.state);
  if (history === undefined) return rows;
  return `${rows} UNION DISTINCT SELECT v.id FROM ${store.relation(history.table)} AS v
    WHERE v.id NOT IN (SELECT o.id FROM ${held.relation} AS o WHERE o.id IS NOT NULL)
    GROUP BY v.id HAVING COUNT(*) = COUNT(v._valid_to) AND MAX(v._valid_to) < @before`;
}

/** The table of a form's versions with its columns, where it is there. */
async function heldHistory(
  store: Store,
  { history }: Pick<FormState, 'history'>,
): Promise<{ readonly table: string; readonly present: ReadonlySet<string> } | undefined> {
  if (history === null) return undefined;
  const names = (await store.jobs.table(history.table))?.columns.map(({ name }) => name) ?? [];
  return isHistory(names) ? { table: history.table, present: new Set(names) } : undefined;
}

/** How many submissions {@link selectDeleted} finds, and rows without an ID. */
export async function countDeleted(store: Store, held: HeldForm, before: string): Promise<number> {
  if (!held.present.has('_deleted_at')) return 0;
  const [row] = await store.query({
    sql: `SELECT (SELECT COUNT(*) FROM (${await selectDeleted(store, held)}) AS d)
      + (SELECT COUNT(*) FROM ${held.relation} AS t WHERE ${NAMELESS_DELETED}) AS n`,
    parameters: { before: timeParameter(before) },
  });
  return Number(row?.['n'] ?? 0);
}

/** The columns that hold answers to these fields. */
export function columnsOfFields(
  { present, state }: HeldForm,
  fieldIds: readonly string[],
): string[] {
  const fields: StateField[] = state.fields.filter(({ id }) => fieldIds.includes(id));
  return columnParts(fields)
    .map(({ name }) => name)
    .filter((name) => present.has(name));
}

/** How many rows, and former versions of rows, hold an answer to one of these fields. */
export async function countFilled(
  store: Store,
  held: HeldForm,
  fieldIds: readonly string[],
): Promise<number> {
  const count = async (
    relation: string,
    columns: readonly string[],
    which: string,
  ): Promise<number> => {
    if (columns.length === 0) return 0;
    const isFilled = columns.map((name) => `t.${named(name)} IS NOT NULL`).join(' OR ');
    const [row] = await store.query({
      sql: `SELECT COUNT(*) AS n FROM ${relation} AS t WHERE (${isFilled})${which}`,
      parameters: {},
    });
    return Number(row?.['n'] ?? 0);
  };
  const rows = await count(held.relation, columnsOfFields(held, fieldIds), '');
  // One that was ended got no column since.
  const history = await heldHistory(store, held.state);
  if (history === undefined) return rows;
  const { table, present } = history;
  const { fields } = held.state;
  const wanted = fields.filter(({ id }) => fieldIds.includes(id));
  const columns = versionColumns(fields, wanted, [...present]);
  return rows + (await count(store.relation(table), columns, ' AND t._valid_to IS NOT NULL'));
}
