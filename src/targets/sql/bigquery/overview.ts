import type { HistoryKind } from '../../../mirror/histories.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { LookRecord } from '../../../mirror/look-record.ts';
import { lookOf } from '../../../mirror/looked.ts';
import type { FormOverview } from '../../../mirror/target.ts';
import { lookFrom } from '../../../mirror/look-record.ts';
import { REJECTED } from './catalogue-shapes.ts';
import type { CountedForms } from './counted-forms.ts';
import { LOOK_RECORD, readRecord } from './kept-record.ts';
import { presentTables } from './present-tables.ts';
import { distinct } from './state-changes.ts';
import type { FormState } from './form-state.ts';
import { lostOf } from './form-columns.ts';
import { noticesOf } from './form-reader.ts';
import { isHistory } from '../row-history.ts';
import type { Store } from './store.ts';

/**
 * Every form that was ever mirrored here, with its state: one statement for all of them, which counts no rows. Of their tables REST
 * tells, which bills nothing.
 */
export async function readOverview(
  store: Store,
  history: HistoryKind,
  counted: CountedForms,
): Promise<FormOverview[]> {
  // At once: what else is asked for at this moment is read with the states.
  const [texts, lookRecord] = await Promise.all([
    store.readForms(),
    readRecord(store.jobs, LOOK_RECORD),
  ]);
  const look = lookRecord === null ? null : lookFrom(lookRecord);
  const forms = [...texts].flatMap(([formId, text]): Held[] => {
    const state = store.stateOf(formId, text);
    return state === undefined || state.table === null
      ? []
      : [{ formId, state, table: state.table }];
  });
  const tables = await presentTables(store, [
    ...forms.flatMap(({ state, table }) => [
      table,
      ...(state.history ? [state.history.table] : []),
    ]),
    ...(forms.some(({ state }) => state.counts.rejected > 0) ? [REJECTED] : []),
  ]);
  const marks = (table: string): string | undefined => tables.get(table)?.mark;
  return forms
    .map(({ formId, state, table }) => {
      const present = tables.get(table)?.columns;
      const kept = tables.get(state.history?.table ?? '')?.columns ?? [];
      const versions = isHistory(kept) ? kept : [];
      const isCounted = counted.has(formId, state, marks);
      return overviewOf(store, formId, state, { present, versions, look, history, isCounted });
    })
    .toSorted((a, b) => (`${a.name}\0${a.formId}` < `${b.name}\0${b.formId}` ? -1 : 1));
}

interface Held {
  readonly formId: string;
  readonly state: FormState;
  readonly table: string;
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
    isCounted,
  }: {
    readonly present: readonly string[] | undefined;
    /** The columns of its history; they may hold what a table that was dropped does not any more. */
    readonly versions: readonly string[];
    readonly look: LookRecord | null;
    readonly history: HistoryKind;
    /** Its rows were counted, and have not changed since. */
    readonly isCounted: boolean;
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
    ...(!isGone && { statuses: new Map(state.statuses) }),
    ...(isCounted && { isAsStored: true }),
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
