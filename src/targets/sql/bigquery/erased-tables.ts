import { FORM_TEXTS } from '../descriptions.ts';
import { HISTORY_MARKS, idsGone } from '../row-history.ts';
import { standingOf } from '../table-standing.ts';
import { LIMITS } from './answer-values.ts';
import type { HeldTable } from './bigquery-tables.ts';
import { CATALOGUE_TABLES, STATE } from './catalogue-shapes.ts';
import type { FormState } from './form-state.ts';
import { presentTables } from './present-tables.ts';
import { historyName } from './row-versions.ts';
import type { Store } from './store.ts';

/** A table besides a form's own from which submissions are erased. */
export interface ErasedTable {
  readonly name: string;
  readonly holds: 'rows' | 'versions';
  /** Whether it is known to be this form's; false: of a form that nobody can tell. */
  readonly isOfForm: boolean;
}

const CATALOGUE = CATALOGUE_TABLES.map(({ name }) => name);

type OwnTables = Pick<FormState, 'history' | 'table' | 'name'>;

/**
 * The tables that hold versions of a form's rows, with those that people changed, and every table of the mirror's making that no form
 * goes on with: what is erased is erased there, too (L18). Throws where nobody can tell whose versions one of them holds.
 */
export async function tablesToErase(store: Store, own: OwnTables): Promise<ErasedTable[]> {
  // In this order: a form says what its tables are called before it makes them.
  const listed = await store.jobs.listed();
  const used = new Set([...(await namesInUse(store)), own.table, ...CATALOGUE]);
  const isHistory = isHistoryOf(own);
  used.delete(own.history?.table ?? null);
  const names = [...listed].flatMap(([name, { isView }]) =>
    isView || used.has(name) ? [] : [name],
  );
  const present = await presentTables(store, names);
  const tables: ErasedTable[] = [];
  for (const name of names) {
    const columns = present.get(name)?.columns ?? [];
    const holds = heldIn(columns);
    if (holds === undefined) continue;
    const found = await store.jobs.table(name);
    if (found?.kind !== 'table' || found.isForeign) continue;
    if (holds === 'versions' && isHistory(name)) {
      if (!columns.includes('id')) throw idsGone(LIMITS, name);
      tables.push({ name, holds, isOfForm: true });
    } else if (isMadeAsOurs(found)) {
      const text = holds === 'rows' ? FORM_TEXTS.table : FORM_TEXTS.versions;
      const isOfForm = found.description === text({ id: '', slug: '', name: own.name });
      tables.push({ name, holds, isOfForm });
    }
  }
  return tables;
}

/** The names that tables of forms have, as far as they are kept: also of a form whose state is damaged otherwise. */
export async function namesInUse(store: Store): Promise<Set<string>> {
  const rows = await store.queryHeld({
    sql: `SELECT JSON_VALUE(state, '$.table') AS table_name, JSON_VALUE(state, '$.view') AS view_name,
        JSON_VALUE(state, '$.history.table') AS history_table
      FROM ${store.relation(STATE)} WHERE NOT STARTS_WITH(form_id, '#')`,
    parameters: {},
  });
  return new Set(rows.flatMap((row) => Object.values(row).filter((name) => name !== null)));
}

/** Whether a history of the form has this name, or had it. */
function isHistoryOf({ history, table }: OwnTables): (name: string) => boolean {
  if (history === null || table === null) return () => false;
  const first = historyName(table);
  return (name) =>
    name === history.table ||
    (name.startsWith(first) && /^(?:_\d+)?$/.test(name.slice(first.length)));
}

/** What a table with these columns may hold; undefined: nothing of ours. */
function heldIn(columns: readonly string[]): ErasedTable['holds'] | undefined {
  if (HISTORY_MARKS.some((mark) => columns.includes(mark))) return 'versions';
  return standingOf(columns) === 'ours' ? 'rows' : undefined;
}

/** Whether it lies as tables of ours do, which one that people made by a query does not. No column of these can be dropped. */
const isMadeAsOurs = ({ clusteredBy, partitionedBy }: HeldTable): boolean =>
  partitionedBy === 'created_at' && clusteredBy?.length === 1 && clusteredBy[0] === 'id';
