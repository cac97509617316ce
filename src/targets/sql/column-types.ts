import { type AnswerLimits, textBeside, typeOf } from './answer-parts.ts';
import { saveCopy } from './catalogue-copy.ts';
import { saveFields } from './catalogue.ts';
import type { NewColumn, SqlDialect, StorableRow, TypeChange } from './dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from './field-column.ts';
import { withTextColumns } from './field-plan.ts';
import { inSavepoint, type SqlSession } from './sql-session.ts';
import { planView, shownLabels, withViewLabels } from './view-plan.ts';

/** What the answers that came ask of a field's column. */
export interface ColumnNeed {
  readonly field: FieldColumn;
  /** The type that it takes; that which it has, once it has one. */
  readonly type: FieldColumn['type'];
  /** True when some of them belong beside it, and there is no column for that yet. */
  readonly beside: boolean;
}

/** What the cells of rows at the place `at` need of the column of `field`; undefined when it takes them as it is. */
export function columnNeed(
  dialect: AnswerLimits,
  field: FieldColumn,
  rows: readonly Pick<StorableRow, 'cells'>[],
  at: number,
): ColumnNeed | undefined {
  let { type } = field;
  // The overflow column holds anything; and where there is a column of texts already, nothing more is needed.
  const mayNeedText = field.storage === 'column' && field.textColumn === null;
  if (type !== null && (type === 'text' || !mayNeedText)) return undefined;
  let beside = false;
  for (const { cells } of rows) {
    const cell = cells[at] ?? null;
    type ??= typeOf(cell);
    if (type === 'text' || (type !== null && !mayNeedText)) break;
    beside = textBeside(type, cell, dialect) !== null;
    if (beside) break;
  }
  return type === field.type && !beside ? undefined : { field, type, beside };
}

/** Gives columns what the answers need of them, and catalogue and view accordingly; the form with its columns. */
export async function meetNeeds(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  needs: readonly ColumnNeed[],
  at: string,
): Promise<FormTable> {
  const types = new Map(needs.map(({ field, type }) => [field.id, type]));
  const asked = needs.flatMap(({ field, type }): TypeChange[] => {
    const isDecided = field.type !== null || type === null || type === 'text';
    return isDecided || field.storage === 'more' ? [] : [{ field, to: type }];
  });
  const decided =
    asked.length === 0
      ? { fields: [], afterView: [] }
      : await dialect.decideTypes(tx, table, asked);
  const byId = new Map(decided.fields.map((field) => [field.id, field]));
  const fields = table.fields.map((field) => {
    const type = types.get(field.id) ?? field.type;
    return byId.get(field.id) ?? (type === field.type ? field : { ...field, type });
  });
  // A column that could not take its type holds everything itself.
  const isOfTexts = new Set(fields.filter(({ type }) => type === 'text').map(({ id }) => id));
  const beside = needs.filter((need) => need.beside && !isOfTexts.has(need.field.id));
  const ids = new Set(beside.map(({ field }) => field.id));
  const split = await addTextColumns(tx, dialect, { ...table, fields }, ids, at);
  const synced = await syncLabelledView(tx, dialect, split);
  for (const statement of decided.afterView) await inSavepoint(tx, () => tx.exec(statement));
  const before = new Set(table.fields);
  const altered = synced.fields.filter((field) => !before.has(field));
  await saveFields(tx, dialect, table.form.id, altered, at);
  await saveCopy(tx, dialect, synced);
  return synced;
}

/** Makes columns of texts beside those of the fields with these IDs; the form with them. Catalogue and view are to follow. */
async function addTextColumns(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  ids: ReadonlySet<string>,
  at: string,
): Promise<FormTable> {
  if (ids.size === 0) return form;
  const present = (await dialect.columnsOf(tx, form.table)) ?? [];
  const taken = new Set(present.map((name) => name.toLowerCase()));
  const fields = withTextColumns(form.fields, ids, taken, dialect.maxFieldColumns);
  const before = new Set(form.fields);
  const added = fields.filter((field) => !before.has(field));
  const columns = added.flatMap(({ textColumn, textStorage }): NewColumn[] =>
    textColumn === null || textStorage === 'more' ? [] : [{ name: textColumn, type: 'text' }],
  );
  const needsMore = added.some(({ textStorage }) => textStorage === 'more');
  const withMore = needsMore && !present.includes(MORE_COLUMN);
  if (dialect.stepwise !== undefined) await saveFields(tx, dialect, form.form.id, added, at);
  if (columns.length > 0 || withMore) await dialect.addColumns(tx, form.table, columns, withMore);
  return { ...form, fields };
}

/** Makes the view show the current labels; the form with the view's columns. `known`: as it was before. */
export async function syncLabelledView(
  tx: SqlSession,
  dialect: SqlDialect,
  table: FormTable,
  known: FormTable | undefined = table,
): Promise<FormTable> {
  const columns = planView(table.fields, dialect);
  const view = await dialect.syncView(tx, table, columns, shownLabels(known));
  return { ...table, view: view.name, fields: withViewLabels(table.fields, view.columns) };
}
