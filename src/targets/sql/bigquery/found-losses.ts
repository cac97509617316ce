import type { StatusCounts } from '../../../mirror/status-counts.ts';
import { lossesOf } from '../losses.ts';
import type { HeldTable } from './bigquery-tables.ts';
import { lostOf } from './form-columns.ts';
import type { FormState } from './form-state.ts';
import { textParameter } from './sql-text.ts';
import type { FoundLosses } from './state-changes.ts';
import { isAbsent, type Store } from './store.ts';
import { columnNames, countGroups, heldForm, type StatusGroup } from './table-reads.ts';

/** What was found, with the counts of rows that told it. */
export interface CountedLosses extends FoundLosses {
  readonly groups: readonly StatusGroup[];
  /** Live rows by status. */
  readonly statuses: StatusCounts;
}

/** Compares a form's table and list of rejections with what was stored. */
export async function findLosses(
  store: Store,
  formId: string,
  state: FormState,
  table: HeldTable | undefined,
): Promise<CountedLosses> {
  const held = heldForm(store, state, table);
  const groups = held === undefined ? [] : await countGroups(store, held);
  const sum = (some: readonly StatusGroup[]): number =>
    some.reduce((total, { rows }) => total + rows, 0);
  const live = groups.filter(({ isDeleted }) => !isDeleted);
  const there = {
    rows: sum(groups),
    live: sum(live),
    rejected: state.counts.rejected === 0 ? 0 : await countListed(store, formId),
  };
  const lost = lostOf(store, state, columnNames(table));
  const row = {
    row_count: state.counts.rows,
    live_count: state.counts.live,
    rejected_count: state.counts.rejected,
    losses: JSON.stringify(state.losses),
  };
  const { rejected: rejections, ...rows } = there;
  const losses = state.table === null ? [] : lossesOf(row, { ...rows, rejections }, lost);
  const statuses = new Map(live.map(({ status, rows }) => [status, rows]));
  return { losses, held: there, counted: state.counts, groups, statuses };
}

async function countListed(store: Store, formId: string): Promise<number> {
  const sql = `SELECT COUNT(*) AS n FROM ${store.relation('mirror_rejected')} WHERE form_id = @form`;
  try {
    const [row] = await store.query({ sql, parameters: { form: textParameter(formId) } });
    return Number(row?.['n'] ?? 0);
  } catch (error) {
    if (isAbsent(error)) return 0;
    throw error;
  }
}
