import type { Loss } from '../../mirror/losses.ts';
import { formTableName, VIEW_SUFFIX } from '../../mirror/column-names.ts';
import type { PrepareResult } from '../../mirror/target.ts';
import type { FormIdentity, PickedField } from '../../mirror/types.ts';
import { saveCopy } from './catalogue-copy.ts';
import { listForms, recordLabels, saveFields, saveForm } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import { beginCounts, columnsLost, placeLost, rememberLosses } from './losses.ts';
import type { FieldColumn, FormTable } from './field-column.ts';
import { MODEL_VIEWS } from './model-views.ts';
import { syncLabelledView } from './column-types.ts';
import { type FieldPlan, NO_TEXT_COLUMN, planFields } from './field-plan.ts';
import { dropCheckpoint } from './pass-records.ts';
import type { SqlSession } from './sql-session.ts';
import { cleanText } from './row-batch.ts';
import { completeTable } from './table-repair.ts';
import { noteStatusesSince } from './status-history.ts';
import { keylessTable, standingOf } from './table-standing.ts';
import { noteStaleViews } from './view-notes.ts';

export interface FormSchemaOptions {
  readonly form: FormIdentity;
  /** What the catalogue knows of it; undefined for a new form. */
  readonly known: FormTable | undefined;
  readonly fields: readonly PickedField[];
  readonly at: string;
  /** The target, for messages. */
  readonly place: string;
}

/**
 * Brings table, catalogue and view in line with the form's fields (L9). A column, table or view that was dropped is
 * created again. With each new column the checkpoint is deleted, so that a pass fills it.
 */
export async function syncFormSchema(
  tx: SqlSession,
  dialect: SqlDialect,
  options: FormSchemaOptions,
): Promise<{ table: FormTable; result: PrepareResult }> {
  const { known, at } = options;
  const form = cleanIdentity(options.form);
  const present = known && (await dialect.columnsOf(tx, known.table));
  const standing = standingOf(present);
  if (standing === 'keyless' && known) throw keylessTable(dialect, known.table, options.place);
  const existing = standing === 'ours' ? present : undefined;
  const plan = planFields(remainingFields(known, existing), options.fields, {
    at,
    maxFieldColumns: dialect.maxFieldColumns,
    takenColumns: (existing ?? []).map((name) => name.toLowerCase()),
    clean: cleanText,
  });
  const names =
    existing !== undefined && known !== undefined
      ? known
      : await chooseNames(tx, dialect, form, known);
  const table: FormTable = {
    form,
    table: names.table,
    view: names.view,
    fields: plan.fields,
    history: known?.history ?? null,
  };
  const lost = lossesOf(dialect, known, existing);
  // A column that is new, or of a field that is picked again, has to be filled for old submissions, too: should this pass
  // fail, the next one reads everything all the same.
  const isFilled = plan.added.length === 0 && !returns(known?.fields ?? [], plan.fields);
  const isProven = lost.length === 0 && isFilled;
  if (dialect.stepwise !== undefined) {
    if (!isProven) await dropCheckpoint(tx, dialect, form.id);
    await saveBeforehand(tx, dialect, table, options);
    await rememberLosses(tx, dialect, form.id, lost);
  }
  if (existing === undefined) {
    await dialect.createTable(tx, table);
    await noteStaleViews(tx, dialect, form.id);
  } else {
    await completeTable(tx, dialect, { table, present: existing, at, place: options.place });
    await dialect.finishTypes?.(tx, table);
  }
  const saved = await saveSchema(tx, dialect, table, plan, options);
  if (existing === undefined) await beginCounts(tx, dialect, form.id, known === undefined);
  if (known === undefined) await noteStatusesSince(tx, dialect, form.id, at);
  if (!isProven) await dropCheckpoint(tx, dialect, form.id);
  await rememberLosses(tx, dialect, form.id, lost);
  return { table: saved, result: plan };
}

/** What is gone of a form: its table, or columns of it. New fields have no column yet and lost none. */
function lossesOf(
  dialect: SqlDialect,
  known: FormTable | undefined,
  existing: readonly string[] | undefined,
): Loss[] {
  if (known === undefined) return [];
  return existing === undefined
    ? [placeLost(dialect, known.table)]
    : columnsLost(known.fields, existing);
}

/** Has the catalogue say what table and columns are about to be made: see {@link Stepwise}. */
async function saveBeforehand(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  { known, at }: FormSchemaOptions,
): Promise<void> {
  if (known === undefined || known.table !== table.table)
    await saveForm(tx, dialect, table.form, table, at);
  const before = new Set(known?.fields);
  const changed = table.fields.filter((field) => !before.has(field));
  await saveFields(tx, dialect, table.form.id, changed, at);
  if (known === undefined || changed.length > 0) await saveCopy(tx, dialect, table);
}

/** Whether a field was gone from form or picks, and is back: meanwhile nothing was stored for it. */
function returns(before: readonly FieldColumn[], now: readonly FieldColumn[]): boolean {
  const gone = new Set(before.filter(({ removedAt }) => removedAt !== null).map(({ id }) => id));
  return now.some(({ id, removedAt }) => removedAt === null && gone.has(id));
}

/**
 * The known fields, without what was lost with a dropped table or column. One of texts that is made anew takes its type from
 * the first answer that comes; others keep theirs, as views of people may still show them.
 */
function remainingFields(
  known: FormTable | undefined,
  present: readonly string[] | undefined,
): readonly FieldColumn[] {
  if (known === undefined) return [];
  if (present === undefined) {
    return known.fields.map((field) => Object.assign(reopened(field), NO_TEXT_COLUMN));
  }
  const there = new Set(present);
  return known.fields.map((field) => {
    const isLost = field.storage === 'column' && !there.has(field.column);
    return isLost ? reopened(field) : field;
  });
}

const reopened = (field: FieldColumn): FieldColumn => ({
  ...field,
  type: field.type === 'text' ? null : field.type,
});

const cleanIdentity = ({ id, slug, name }: FormIdentity): FormIdentity => ({
  id,
  slug: cleanText(slug),
  name: cleanText(name),
});

/** Names that nothing else has; a form whose table was dropped gets its old ones where they are still free. */
async function chooseNames(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormIdentity,
  known: FormTable | undefined,
): Promise<{ table: string; view: string }> {
  await dialect.lockCatalogue(tx);
  const taken = await dialect.relationNames(tx);
  for (const name of MODEL_VIEWS) taken.add(name);
  // The view may have outlived its table: where it is ours for certain, it is turned to the new one.
  if (known !== undefined && !taken.has(known.table)) {
    return { table: known.table, view: known.view };
  }
  for (const other of await listForms(tx, dialect)) {
    taken.add(other.table);
    taken.add(other.view);
    if (other.history !== null) taken.add(other.history.table);
  }
  const table = formTableName(form, taken);
  return { table, view: known?.view ?? `${table}${VIEW_SUFFIX}` };
}

async function saveSchema(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  plan: FieldPlan,
  { known, at }: FormSchemaOptions,
): Promise<FormTable> {
  const synced = await syncLabelledView(tx, dialect, table, known);
  const isNewName =
    known?.form.slug !== table.form.slug ||
    known.form.name !== table.form.name ||
    known.table !== synced.table ||
    known.view !== synced.view;
  if (isNewName) await saveForm(tx, dialect, table.form, synced, at);
  const before = new Set(known?.fields);
  const changed = synced.fields.filter((field) => !before.has(field));
  await saveFields(tx, dialect, table.form.id, changed, at);
  await recordLabels(tx, dialect, table.form.id, plan.newlyLabelled, at);
  await saveCopy(tx, dialect, synced);
  return synced;
}
