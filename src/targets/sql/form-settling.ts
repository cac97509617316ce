import { formTableName, uniqueName, VIEW_SUFFIX } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { PrepareResult } from '../../mirror/target.ts';
import type { FormIdentity, PickedField } from '../../mirror/types.ts';
import { listForms, recordLabels, saveFields, saveForm } from './catalogue.ts';
import type { SqlDialect, TypeChange } from './dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from './field-column.ts';
import { type FieldPlan, planFields } from './field-plan.ts';
import { dropCheckpoint } from './pass-history.ts';
import { inSavepoint, type SqlSession } from './sql-session.ts';
import { cleanText } from './storable-rows.ts';
import { planView, withViewLabels } from './view-plan.ts';

/** What {@link settleForm} works on. */
export interface SettleOptions {
  readonly form: FormIdentity;
  /** What the catalogue knows of it; undefined for a new form. */
  readonly known: FormTable | undefined;
  readonly fields: readonly PickedField[];
  readonly at: string;
}

/**
 * Brings table, catalogue and view in line with the form's fields (L9). What people took away (a column, the table, the
 * view) is made anew; then the checkpoint goes, so that the next pass fills it again.
 */
export async function settleForm(
  tx: SqlSession,
  dialect: SqlDialect,
  options: SettleOptions,
): Promise<{ table: FormTable; result: PrepareResult }> {
  const { known, at } = options;
  const form = cleanIdentity(options.form);
  const present = known && (await dialect.columnsOf(tx, known.table));
  const isThere = present !== undefined && SYSTEM_COLUMNS.every((name) => present.includes(name));
  const existing = isThere ? present : undefined;
  const plan = planFields(standingFields(known, existing), options.fields, {
    at,
    maxFieldColumns: dialect.maxFieldColumns,
    takenColumns: (existing ?? []).map((name) => name.toLowerCase()),
    clean: cleanText,
  });
  const names =
    isThere && known !== undefined ? known : await chooseNames(tx, dialect, form, known);
  const table: FormTable = { form, table: names.table, view: names.view, fields: plan.fields };
  if (existing === undefined) await dialect.createTable(tx, table);
  const healed = await completeColumns(tx, dialect, table, existing, known?.fields ?? []);
  if (healed || (known !== undefined && !isThere)) await dropCheckpoint(tx, dialect, form.id);
  return { table: await settleCatalogue(tx, dialect, table, plan, options), result: plan };
}

/** The known fields, without what went with a table or a column that somebody took away. */
function standingFields(
  known: FormTable | undefined,
  present: readonly string[] | undefined,
): readonly FieldColumn[] {
  if (known === undefined) return [];
  if (present === undefined) return known.fields.map((field) => Object.assign({}, field, NOWHERE));
  const there = new Set(present);
  return known.fields.map((field) =>
    field.numberColumn === null || there.has(field.numberColumn)
      ? field
      : Object.assign({}, field, { numberColumn: null, numberViewLabel: null }),
  );
}

/** Of a field in a table made anew. */
const NOWHERE = { numberColumn: null, viewLabel: null, numberViewLabel: null };

const cleanIdentity = ({ id, slug, name }: FormIdentity): FormIdentity => ({
  id,
  slug: cleanText(slug),
  name: cleanText(name),
});

/** Names that nothing else has; for a form whose table is gone its old ones, where they are still free. */
async function chooseNames(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormIdentity,
  known: FormTable | undefined,
): Promise<{ table: string; view: string }> {
  await dialect.lockCatalogue(tx);
  const taken = await dialect.relationNames(tx);
  // A view that outlived its table shows something else now.
  if (known !== undefined && !taken.has(known.table)) {
    return { table: known.table, view: uniqueName(known.view, taken) };
  }
  for (const other of await listForms(tx, dialect)) {
    taken.add(other.table);
    taken.add(other.view);
  }
  const table = formTableName(form, taken);
  return { table, view: `${table}${VIEW_SUFFIX}` };
}

/** Adds the columns that the table lacks. True when one of them had been there before and was taken away. */
async function completeColumns(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  present: readonly string[] | undefined,
  known: readonly FieldColumn[],
): Promise<boolean> {
  if (present === undefined) return false;
  const there = new Set(present);
  const missing = table.fields.filter(
    (field) => field.storage === 'column' && !there.has(field.column),
  );
  const lacksMore =
    !there.has(MORE_COLUMN) && table.fields.some((field) => field.storage === 'more');
  if (missing.length === 0 && !lacksMore) return false;
  await dialect.addColumns(tx, table, missing, lacksMore);
  const hadMore = known.some((field) => field.storage === 'more');
  return missing.some((field) => field.ordinal < known.length) || (lacksMore && hadMore);
}

async function settleCatalogue(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  plan: FieldPlan,
  { known, at }: SettleOptions,
): Promise<FormTable> {
  const settled = await settleView(tx, dialect, table);
  const isNewName =
    known?.form.slug !== table.form.slug ||
    known.form.name !== table.form.name ||
    known.table !== settled.table ||
    known.view !== settled.view;
  if (isNewName) await saveForm(tx, dialect, table.form, settled, at);
  const before = new Set(known?.fields);
  const changed = settled.fields.filter((field) => !before.has(field));
  await saveFields(tx, dialect, table.form.id, changed, at);
  await recordLabels(tx, dialect, table.form.id, plan.newlyLabelled, at);
  await dialect.comment(tx, settled, plan.newlyLabelled);
  return settled;
}

/** Makes the view show the current labels. The form as it is then. */
async function settleView(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
): Promise<FormTable> {
  const columns = planView(table.fields, dialect);
  const view = await dialect.syncView(tx, table, columns);
  return { ...table, view: view.name, fields: withViewLabels(table.fields, view.columns) };
}

/** Gives columns other types, and lets catalogue and view follow. The form as it is then. */
export async function changeTypes(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  changes: readonly TypeChange[],
  at: string,
): Promise<FormTable> {
  const changed = await dialect.changeTypes(tx, table, changes);
  const byId = new Map(changed.fields.map((field) => [field.id, field]));
  const fields = table.fields.map((field) => byId.get(field.id) ?? field);
  const settled = await settleView(tx, dialect, { ...table, fields });
  for (const statement of changed.afterView) await inSavepoint(tx, () => tx.exec(statement));
  const before = new Set(table.fields);
  const altered = settled.fields.filter((field) => !before.has(field));
  await saveFields(tx, dialect, table.form.id, altered, at);
  const twins = altered.filter((field) => field.numberColumn !== null);
  await dialect.comment(tx, settled, twins);
  return settled;
}
