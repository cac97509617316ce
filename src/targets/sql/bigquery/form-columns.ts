import { formTableName, VIEW_SUFFIX } from '../../../mirror/column-names.ts';
import type { Loss } from '../../../mirror/losses.ts';
import type { PrepareResult } from '../../../mirror/target.ts';
import type { PickedField } from '../../../mirror/types.ts';
import { type ColumnNeed, columnNeed } from '../column-types.ts';
import type { StorableRow } from '../dialect.ts';
import { NO_TEXT_COLUMN, planFields, withTextColumns } from '../field-plan.ts';
import { columnsLost, placeLost } from '../losses.ts';
import { MODEL_VIEWS } from '../model-views.ts';
import { cleanText } from '../row-batch.ts';
import { keylessTable, standingOf } from '../table-standing.ts';
import { LIMITS } from './answer-values.ts';
import { BigQueryError } from './bigquery-errors.ts';
import type { HeldTable } from './bigquery-tables.ts';
import { STATE, STATUSES } from './catalogue-shapes.ts';
import { namesInUse } from './erased-tables.ts';
import type { FormHold } from './form-hold.ts';
import type { FormState, StateField } from './form-state.ts';
import { takeOverForgotten } from './forgotten-notes.ts';
import { withHashSet } from './row-hash.ts';
import { followHistory } from './row-versions.ts';
import { type Statement, textParameter } from './sql-text.ts';
import { columnNames } from './table-reads.ts';
import { withLabels, withLosses, withoutCheckpoint } from './state-changes.ts';
import {
  answerColumns,
  columnParts,
  formTable,
  MOST_FIELD_COLUMNS,
  OWN_COLUMNS,
} from './table-columns.ts';
import { assertTypes, restoreTimes } from './table-repair.ts';
import { withViewNames } from './view-texts.ts';

/*
 * A form's table and its columns follow the form. What is to be made is in the state first, and made by REST then: whoever dies in
 * between leaves it to the next one, who knows it to be no loss.
 */

/** The columns that one writer writes. */
export class FormColumns {
  readonly #hold: FormHold;
  #prepared: ReadonlySet<string> = new Set();
  #hashed: ReadonlySet<string> = new Set();

  readonly #keepsVersions: boolean;

  constructor(hold: FormHold, keepsVersions: boolean) {
    this.#hold = hold;
    this.#keepsVersions = keepsVersions;
  }

  /** The fields that are written, by the order of their columns. */
  get fields(): readonly StateField[] {
    return this.#hold.state.fields.filter(({ id }) => this.#prepared.has(id));
  }

  /** The fields that are stored as hashes. */
  get hashed(): ReadonlySet<string> {
    return this.#hashed;
  }

  /** See `prepare` of the port. */
  async prepare(fields: readonly PickedField[]): Promise<PrepareResult> {
    const result = await this.#sync(fields);
    this.#prepared = new Set(fields.map(({ id }) => cleanText(id)));
    this.#hashed = new Set(fields.filter(({ hashed }) => hashed).map(({ id }) => cleanText(id)));
    return result;
  }

  /** Makes the table of a form that is written to before it was prepared. */
  async ensureTable(): Promise<void> {
    const { state } = this.#hold;
    if (state.table === null || state.hashSets.length === 0) await this.#sync([]);
  }

  /** Gives columns what these rows need of them: a type, and a column of texts beside them. */
  async suit(rows: readonly StorableRow[]): Promise<void> {
    const needs = this.fields.flatMap((field, at) => columnNeed(LIMITS, field, rows, at) ?? []);
    if (needs.length === 0) return;
    const { state } = this.#hold;
    const taken = new Set(
      (await this.#hold.table())?.columns.map(({ name }) => name.toLowerCase()),
    );
    const before = new Set(columnParts(state.fields).map(({ name }) => name));
    const fields = withViewNames(suited(state.fields, needs, taken));
    const made = columnParts(fields).filter(({ name }) => !before.has(name));
    await this.#hold.commit({
      ...state,
      fields,
      pending: [...state.pending, ...made.map(({ name }) => name)],
    });
    await this.#make(await this.#hold.table());
  }

  /** Where two forms choose one name for their tables at the same time, the second chooses again. */
  async #sync(picked: readonly PickedField[]): Promise<PrepareResult> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#syncOnce(picked);
      } catch (error) {
        if (!isNameTaken(error) || tries >= MOST_NAME_TRIES) throw error;
      }
    }
  }

  async #syncOnce(picked: readonly PickedField[]): Promise<PrepareResult> {
    const hold = this.#hold;
    if (hold.state.table === null) await takeOverForgotten(hold);
    const { state, store } = hold;
    const at = hold.now();
    hold.forgetTable();
    const found = await hold.table();
    const standing = standingOf(columnNames(found));
    if (standing === 'keyless' && state.table !== null)
      throw keylessTable(store, state.table, store.place);
    const existing = standing === 'ours' ? found : undefined;
    const remaining = remainingFields(state, existing);
    const plan = planFields(remaining, picked, {
      at,
      maxFieldColumns: MOST_FIELD_COLUMNS,
      takenColumns: (columnNames(existing) ?? []).map((name) => name.toLowerCase()),
      clean: cleanText,
    });
    const lost = this.#lossesOf(existing);
    const prepared = new Set(picked.map(({ id }) => cleanText(id)));
    const named = plan.fields.map((field, ordinal): StateField => {
      const was = remaining[ordinal];
      const isEmptied = was?.isEmptied === true && !prepared.has(field.id);
      return {
        ...field,
        firstSeenAt: was?.firstSeenAt ?? at,
        isEmptied,
      };
    });
    const fields = withViewNames(named);
    const isRefilled = state.fields.some(({ id, isEmptied }) => isEmptied && prepared.has(id));
    const isProven =
      lost.length === 0 && plan.added.length === 0 && !returns(state.fields, fields) && !isRefilled;
    const names = existing === undefined ? await this.#chooseNames() : namesKept(state);
    const isNewTable = existing === undefined;
    let next: FormState = {
      ...state,
      slug: cleanText(hold.form.slug),
      name: cleanText(hold.form.name),
      table: names.table,
      view: names.view,
      firstSeenAt: state.firstSeenAt ?? at,
      ...statusesOf(state, await this.#statusesMade(), at),
      fields,
      pending: pendingOf(fields, names.table, existing),
      ...(isNewTable && {
        months: [],
        counts: { ...state.counts, rows: 0, live: 0 },
        statuses: [],
      }),
    };
    // What a row was hashed as is no longer what it holds.
    if (lost.length > 0 || isNewTable) next = { ...next, hashSets: [] };
    const own = fields.filter(({ id }) => prepared.has(id));
    const hashSets = withHashSet(next.hashSets, own, fields.length, next.nextHashSet);
    if (hashSets !== next.hashSets) next = { ...next, hashSets, nextHashSet: next.nextHashSet + 1 };
    next = withLosses(withLabels(next, plan.newlyLabelled, at), lost);
    if (!isProven) next = withoutCheckpoint(next);
    if (!isSame(state, next))
      await hold.commit(next, isNewTable ? [this.#assertFree(names.table)] : []);
    await this.#make(existing);
    const { added, relabelled, removed } = plan;
    return { added, relabelled, removed };
  }

  /** Makes what the state says of the table. */
  async #make(existing: HeldTable | undefined): Promise<void> {
    const hold = this.#hold;
    const { state, store } = hold;
    const { jobs } = store;
    if (state.table === null) return;
    const wanted = [...OWN_COLUMNS, ...answerColumns(state.fields)];
    if (existing === undefined) await jobs.createTable(formTable(state.table, state));
    const held = existing ?? (await jobs.table(state.table));
    const present = new Map(held?.columns.map((column) => [column.name.toLowerCase(), column]));
    assertTypes(store, state.table, wanted, present);
    const missing = wanted.filter(({ name }) => !present.has(name.toLowerCase()));
    const described = wanted.filter(({ name, description }) => {
      const now = present.get(name.toLowerCase())?.description;
      return now !== undefined && now !== description;
    });
    if (missing.length > 0) await jobs.addColumns(state.table, missing);
    if (described.length > 0) {
      const texts = described.map(({ name, description = '' }) => [name, description] as const);
      const { description } = formTable(state.table, state);
      await jobs.describe(state.table, description, Object.fromEntries(texts));
    }
    if (existing === undefined || missing.length > 0) hold.forgetTable();
    if (state.pending.length > 0) hold.keep({ ...state, pending: [] });
    if (existing !== undefined) await restoreTimes(hold);
    await followHistory(hold, this.#keepsVersions, new Set(missing.map(({ name }) => name)));
  }

  /** When the history of statuses was made; made anew where people dropped it. */
  async #statusesMade(): Promise<string | undefined> {
    const { jobs } = this.#hold.store;
    const made = (await jobs.listed()).get(STATUSES.name)?.madeAt;
    if (made !== undefined) return made;
    await jobs.createTable(STATUSES);
    return (await jobs.listed()).get(STATUSES.name)?.madeAt;
  }

  /** What is gone of the form: its table, or columns of it. */
  #lossesOf(existing: HeldTable | undefined): Loss[] {
    const { state, store } = this.#hold;
    return lostOf(store, state, columnNames(existing));
  }

  /** Names that nothing else has; a form whose table was dropped gets its old ones where they are still free. */
  async #chooseNames(): Promise<{ table: string; view: string }> {
    const { form, state, store } = this.#hold;
    const names = await store.jobs.tables();
    const taken = new Set([...names, ...MODEL_VIEWS].map((name) => name.toLowerCase()));
    const { table, view } = state;
    // The view may have outlived it, and one that is about to be made may be there since.
    if (table !== null && view !== null && (!taken.has(table) || state.pending.includes(table)))
      return { table, view };
    for (const name of await namesInUse(store)) taken.add(name.toLowerCase());
    const chosen = formTableName(form, taken);
    return { table: chosen, view: view ?? `${chosen}${VIEW_SUFFIX}` };
  }

  /** Of two forms that choose one name at the same time, one fails. */
  #assertFree(table: string): Statement {
    const { form, store } = this.#hold;
    return {
      sql: `ASSERT NOT EXISTS (SELECT 1 FROM ${store.relation(STATE)} WHERE form_id <> @own_form AND JSON_VALUE(state, '$.table') = @own_table) AS 'forms_mirror_name_taken'`,
      parameters: { own_form: textParameter(form.id), own_table: textParameter(table) },
    };
  }
}

const MOST_NAME_TRIES = 20;

const isNameTaken = (error: unknown): boolean =>
  error instanceof BigQueryError && error.says(/forms_mirror_name_taken/);

/** What a form's table lacks. `present`: its columns; undefined where it is not there. */
export function lostOf(
  store: { readonly shownRelation: (name: string) => string },
  state: Pick<FormState, 'table' | 'fields' | 'pending'>,
  present: readonly string[] | undefined,
): Loss[] {
  if (state.table === null) return [];
  if (standingOf(present) === 'gone')
    return state.pending.includes(state.table) ? [] : [placeLost(store, state.table)];
  // What is about to be made is not missing.
  const there = [...(present ?? []), ...state.pending];
  return columnsLost(
    state.fields.filter(({ type }) => type !== null),
    there,
  );
}

/** The fields without what was lost with a dropped table or column: a text column takes its type from the next answer. */
function remainingFields(state: FormState, existing: HeldTable | undefined): readonly StateField[] {
  const reopened = (field: StateField): StateField => ({
    ...field,
    type: field.type === 'text' ? null : field.type,
  });
  if (existing === undefined) {
    if (state.table !== null && state.pending.includes(state.table)) return state.fields;
    return state.fields.map((field) => ({ ...reopened(field), ...NO_TEXT_COLUMN }));
  }
  const there = new Set([...existing.columns.map(({ name }) => name), ...state.pending]);
  return state.fields.map((field) =>
    field.type === null || there.has(field.column) ? field : reopened(field),
  );
}

/** Whether a field was gone from form or picks, and is back: meanwhile nothing was stored for it. */
function returns(before: readonly StateField[], now: readonly StateField[]): boolean {
  const gone = new Set(before.filter(({ removedAt }) => removedAt !== null).map(({ id }) => id));
  return now.some(({ id, removedAt }) => removedAt === null && gone.has(id));
}

/** Since when the statuses of its rows are told, and in which table: in one that was made since then there is nothing of before. */
const statusesOf = (
  { statusesIn, statusesSince, table }: FormState,
  made: string | undefined,
  at: string,
): Pick<FormState, 'statusesIn' | 'statusesSince'> => {
  if (table === null) return { statusesIn: made, statusesSince: at };
  const isSame = statusesIn === undefined || made === undefined || statusesIn === made;
  return { statusesIn: made ?? statusesIn, statusesSince: isSame ? statusesSince : null };
};

const namesKept = ({ table, view }: FormState): { table: string; view: string } => ({
  table: table ?? '',
  view: view ?? '',
});

/** What is about to be made of a table. */
function pendingOf(
  fields: readonly StateField[],
  table: string,
  existing: HeldTable | undefined,
): string[] {
  if (existing === undefined) return [table, ...columnParts(fields).map(({ name }) => name)];
  const there = new Set(existing.columns.map(({ name }) => name));
  const missing = columnParts(fields).filter(({ name }) => !there.has(name));
  const own = OWN_COLUMNS.filter(({ name }) => !there.has(name));
  return [...missing, ...own].map(({ name }) => name);
}

/** The fields with the types that answers ask for, and columns of texts beside them. */
function suited(
  fields: readonly StateField[],
  needs: readonly ColumnNeed[],
  taken: ReadonlySet<string>,
): StateField[] {
  const types = new Map(needs.map(({ field, type }) => [field.id, type]));
  const beside = new Set(needs.filter((need) => need.beside).map(({ field }) => field.id));
  const typed = fields.map((field) =>
    Object.assign({}, field, { type: types.get(field.id) ?? field.type }),
  );
  const split = withTextColumns(typed, beside, taken, MOST_FIELD_COLUMNS);
  return typed.map((field, at) => {
    const { textColumn = null, textStorage = 'column' } = split[at] ?? {};
    return Object.assign({}, field, { textColumn, textStorage });
  });
}

/** Whether nothing has changed that others have to know. */
const isSame = (one: FormState, other: FormState): boolean =>
  JSON.stringify({ ...one, checkpoint: one.checkpoint === null }) ===
  JSON.stringify({ ...other, checkpoint: other.checkpoint === null });
