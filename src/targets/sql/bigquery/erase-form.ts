import { type Erasure, NOTHING_ERASED } from '../../../mirror/erasure.ts';
import { withoutIds } from '../../../mirror/forgotten.ts';
import {
  columnsOfFields,
  countFilled,
  countTraces,
  listedIds,
  NAMELESS_DELETED,
  selectDeleted,
} from './erasure-counts.ts';
import { type ErasedTable, tablesToErase } from './erased-tables.ts';
import type { FormHold } from './form-hold.ts';
import type { FormState } from './form-state.ts';
import { eraseFrom } from './list-statements.ts';
import { monthsOf } from './partitions.ts';
import { deleteRows, emptyColumns } from './row-statements.ts';
import { clearVersionColumns } from './row-versions.ts';
import { listParameter, type Statement, textParameter, timeParameter } from './sql-text.ts';
import { counted, moved, withoutForgotten } from './state-changes.ts';
import type { Store } from './store.ts';
import { type HeldForm, idsOf, locate } from './table-reads.ts';

/** IDs erased by one script. */
const IDS_A_SCRIPT = 5_000;

/** What goes with an erasure. */
export interface ErasurePart {
  /** The state as it is to be, but for counts. */
  readonly state: FormState;
  readonly statements: readonly Statement[];
  /** IDs that are taken out of messages. */
  readonly names: readonly string[];
}

/** Removes everything that is held of these submissions, in one script. */
export async function eraseForm(
  hold: FormHold,
  held: HeldForm | undefined,
  ids: readonly string[],
  { state, statements, names }: ErasurePart,
): Promise<Erasure> {
  const { form, store } = hold;
  const others = await tablesToErase(store, hold.state);
  const { traces } = await countTraces(store, form.id, held, others, ids);
  const found = held === undefined ? [] : await locate(store, held, ids);
  const live = found.filter(({ isDeleted }) => !isDeleted);
  const [foundIds, liveIds] = [idsOf(found), idsOf(live)];
  const listed = listedIds(ids);
  const all: Statement[] = [...statements, ...(await eraseNames(hold, names))];
  if (held !== undefined && found.length > 0) {
    const known = { ...held, ids: foundIds, months: monthsOf(found) };
    all.push(deleteRows(known));
  }
  if (traces.listings > 0) all.push(eraseFrom(store.relation, 'mirror_rejected', form.id, listed));
  if (traces.refusals > 0) all.push(eraseFrom(store.relation, 'mirror_refusals', form.id, listed));
  if (traces.history > 0)
    all.push(eraseFrom(store.relation, 'mirror_status_history', form.id, listed));
  if (traces.history > 0 || traces.rows > found.length)
    all.push(...eraseRowsOf(store, others, listed));
  const gone = live.map(({ status }) => [status, -1] as const);
  const next = counted(moved(withoutForgotten(state, live), gone), {
    rows: -foundIds.length,
    live: -liveIds.length,
    rejected: -traces.listings,
  });
  await hold.commit(next, all);
  return { ...traces, left: [] };
}

/** Removes everything that these tables hold of these submissions. */
function eraseRowsOf(
  { relation }: Store,
  tables: readonly ErasedTable[],
  ids: readonly string[],
): Statement[] {
  const parameters = { erased: listParameter(ids) };
  return tables.map(({ name }) => ({
    sql: `DELETE FROM ${relation(name)} AS o WHERE o.id IN UNNEST(@erased)`,
    parameters,
    mutates: name,
  }));
}

/** Removes some rows that were marked deleted before `before`; those without an ID when no others are left. */
export async function purgeForm(
  hold: FormHold,
  held: HeldForm | undefined,
  before: string,
): Promise<Erasure> {
  if (held?.present.has('_deleted_at') !== true) return NOTHING_ERASED;
  const rows = await hold.store.query({
    sql: `${await selectDeleted(hold.store, held)} LIMIT ${IDS_A_SCRIPT}`,
    parameters: { before: timeParameter(before) },
  });
  if (rows.length === 0) return purgeNameless(hold, held, before);
  const ids = rows.map((row) => row['id'] ?? '');
  return eraseForm(hold, held, ids, { state: hold.state, statements: [], names: [] });
}

/** Removes rows that lost their IDs, which no ID finds. */
async function purgeNameless(hold: FormHold, held: HeldForm, before: string): Promise<Erasure> {
  const parameters = { before: timeParameter(before) };
  const from = `FROM ${held.relation} AS t WHERE ${NAMELESS_DELETED}`;
  const [row] = await hold.store.query({
    sql: `SELECT COUNT(t._deleted_at) AS n ${from}`,
    parameters,
  });
  const rows = Number(row?.['n'] ?? 0);
  if (rows === 0) return NOTHING_ERASED;
  const statement = { sql: `DELETE ${from}`, parameters, mutates: held.table };
  await hold.commit(counted(hold.state, { rows: -rows }), [statement]);
  return { ...NOTHING_ERASED, rows };
}

/** Removes every answer to these fields; how many rows, and former versions of rows, held one. */
export async function emptyFormFields(
  hold: FormHold,
  held: HeldForm | undefined,
  fieldIds: readonly string[],
  at: string,
): Promise<number> {
  const { state } = hold;
  const wanted = new Set(fieldIds);
  const filled = held === undefined ? 0 : await countFilled(hold.store, held, fieldIds);
  const columns = held === undefined ? [] : columnsOfFields(held, fieldIds);
  const statements: Statement[] = [];
  if (held !== undefined && columns.length > 0 && filled > 0)
    statements.push(emptyColumns(held, columns, at));
  statements.push(...(await clearVersionColumns(hold, wanted, 'all')));
  const fields = state.fields.map((field) =>
    wanted.has(field.id) ? { ...field, isEmptied: true } : field,
  );
  await hold.commit({ ...state, fields, windows: [] }, statements);
  return filled;
}

/** Takes IDs out of what passes recorded as their errors. */
async function eraseNames(hold: FormHold, ids: readonly string[]): Promise<Statement[]> {
  const { form, state, store } = hold;
  if (ids.length === 0 || state.passes.number === 0) return [];
  const rows = await store.query({
    sql: `SELECT id, error FROM ${store.relation('mirror_passes')} WHERE form_id = @form AND error IS NOT NULL`,
    parameters: { form: textParameter(form.id) },
  });
  const changed = rows.flatMap((row) => {
    const error = row['error'] ?? '';
    const rest = withoutIds(error, ids);
    return rest === error ? [] : [{ n: row['id'], e: rest }];
  });
  if (changed.length === 0) return [];
  return [
    {
      sql: `MERGE ${store.relation('mirror_passes')} AS t USING (
          SELECT CAST(JSON_VALUE(r, '$.n') AS INT64) AS id, JSON_VALUE(r, '$.e') AS error FROM UNNEST(JSON_QUERY_ARRAY(@messages)) AS r) AS s
        ON t.form_id = @form AND t.id = s.id
        WHEN MATCHED THEN UPDATE SET error = s.error`,
      parameters: {
        messages: textParameter(JSON.stringify(changed)),
        form: textParameter(form.id),
      },
      mutates: 'mirror_passes',
    },
  ];
}
