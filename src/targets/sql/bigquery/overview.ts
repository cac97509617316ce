import type { HistoryKind } from '../../../mirror/histories.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { LookRecord } from '../../../mirror/look-record.ts';
import { lookOf } from '../../../mirror/looked.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import { lookFrom } from '../../../mirror/look-record.ts';
import { LOOK_KEY, STATE } from './catalogue-shapes.ts';
import { distinct } from './state-changes.ts';
import type { FormState } from './form-state.ts';
import { lostOf } from './form-columns.ts';
import { noticesOf } from './form-reader.ts';
import { isHistory } from '../row-history.ts';
import type { Store } from './store.ts';

/** Every form that was ever mirrored here, with its state: one query for all of them, which counts no rows. */
export async function readOverview(store: Store, history: HistoryKind): Promise<FormOverview[]> {
  const columns = `\`${store.jobs.project}.${store.jobs.dataset}\`.INFORMATION_SCHEMA.COLUMNS`;
  const rows = await store.queryHeld({
    sql: `WITH present AS (SELECT table_name, STRING_AGG(column_name, ' ') AS columns FROM ${columns} GROUP BY table_name)
      SELECT s.form_id, s.state, c.columns, h.columns AS kept FROM ${store.relation(STATE)} AS s
      LEFT JOIN present AS c ON c.table_name = JSON_VALUE(s.state, '$.table')
      LEFT JOIN present AS h ON h.table_name = JSON_VALUE(s.state, '$.history.table')
      WHERE s.form_id = '${LOOK_KEY}' OR NOT STARTS_WITH(s.form_id, '#')`,
    parameters: {},
  });
  const looks = rows.find((row) => row['form_id'] === LOOK_KEY)?.['state'] ?? null;
  const look = looks === null ? null : lookFrom(looks);
  const forms = rows.flatMap((row): FormOverview[] => {
    const formId = row['form_id'] ?? '';
    if (formId.startsWith('#')) return [];
    const state = store.stateOf(formId, row['state'] ?? null);
    if (state === undefined || state.table === null) return [];
    const present = row['columns']?.split(' ');
    const kept = row['kept']?.split(' ') ?? [];
    const versions = isHistory(kept) ? kept : [];
    return [overviewOf(store, formId, state, { present, versions, look, history })];
  });
  return forms.toSorted((a, b) => (`${a.name}\0${a.formId}` < `${b.name}\0${b.formId}` ? -1 : 1));
}

function overviewOf(
  store: Store,
  formId: string,
  state: FormState,
  {
    present,
    versions,
    look,
    history,
  }: {
    readonly present: readonly string[] | undefined;
    /** The columns of its history; they may hold what a table that was dropped does not any more. */
    readonly versions: readonly string[];
    readonly look: LookRecord | null;
    readonly history: HistoryKind;
  },
): FormOverview {
  const table = store.shownRelation(state.table ?? '');
  const isGone = present === undefined && !state.pending.includes(state.table ?? '');
  const losses: Loss[] = distinct([
    ...state.losses,
    ...lostOf(store, state, present),
    ...(isGone ? [] : state.found),
  ]);
  const { counts, passes } = state;
  return {
    formId,
    slug: state.slug,
    name: state.name,
    location: `table ${table}, view ${store.shownRelation(state.view ?? '')}`,
    place: { table },
    rows: isGone ? 0 : counts.live,
    deletedRows: isGone ? 0 : counts.rows - counts.live,
    rejected: counts.rejected,
    goneAt: state.goneAt,
    checkpoint: state.checkpoint,
    look: lookOf(look, formId),
    marking: state.marking,
    losses,
    lastPass: passes.last,
    lastOk: passes.lastOk,
    lastFull: passes.lastFull,
    droppedColumns: [],
    fields: state.fields.map(({ id, label, position, removedAt }) => {
      return { id, label, position, removedAt };
    }),
    filledFields: state.fields
      .filter(
        ({ type, column, isEmptied }) => (type !== null || versions.includes(column)) && !isEmptied,
      )
      .map(({ id, label }) => ({ id, label })),
    isHistoryDue: (history === 'full') !== (state.history?.isOpen === true && versions.length > 0),
    forgotten: counts.forgotten,
    notices: noticesOf(store, state),
  };
}
