import type { ChangedTypes, TypeChange } from '../dialect.ts';
import type { FieldColumn, FormTable } from '../field-column.ts';
import { numberTwinName } from '../field-plan.ts';
import { inSavepoint, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { isBlockedByDependants } from './postgres-errors.ts';
import { qualified } from './postgres-names.ts';
import { postgresColumns } from './postgres-tables.ts';

/** See {@link SqlDialect.changeTypes}. */
export async function changePostgresTypes(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<ChangedTypes> {
  const grants = await grantsOn(tx, schema, form.view);
  const inPlace = changes.filter(({ field, to }) => isAltered(field, to));
  const empty = await emptyColumns(
    tx,
    schema,
    form,
    inPlace.filter(({ to }) => to === 'number').map(({ field }) => field),
  );
  const candidates = inPlace.filter(({ field, to }) => to === 'text' || empty.has(field));
  const altered = await alterColumns(tx, schema, form, candidates);
  const fields: FieldColumn[] = [];
  for (const { field, to } of changes) {
    if (!isAltered(field, to) || altered.has(field)) fields.push({ ...field, type: to });
    // A column that something depends on stays text, as it was made.
    else if (to === 'number') fields.push({ ...field, type: 'text' });
    else fields.push(await addTextColumn(tx, schema, form, field));
  }
  return { fields, afterView: grants };
}

/** True when the change concerns the column itself: an empty one is text already. */
const isAltered = (field: FieldColumn, to: 'number' | 'text'): boolean =>
  field.storage === 'column' && !(field.type === null && to === 'text');

/** Those of the fields whose columns hold no values that users wrote. */
async function emptyColumns(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  fields: readonly FieldColumn[],
): Promise<Set<FieldColumn>> {
  if (fields.length === 0) return new Set();
  const counts = fields.map((field) => `count(${quoted(field.column)})`);
  const [row = []] = await tx.queryArrays(
    `SELECT ${counts.join(', ')} FROM ${qualified(schema, form.table)}`,
  );
  return new Set(fields.filter((_field, index) => Number(row[index]) === 0));
}

/** Alters all columns at once, or, where one can't be altered, each by itself. Returns those that were altered. */
async function alterColumns(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<Set<FieldColumn>> {
  if (changes.length === 0) return new Set();
  if (await tryAlter(tx, schema, form, changes)) return new Set(changes.map(({ field }) => field));
  const altered = new Set<FieldColumn>();
  if (changes.length === 1) return altered;
  for (const change of changes) {
    if (await tryAlter(tx, schema, form, [change])) altered.add(change.field);
  }
  return altered;
}

/**
 * The labelled view depends on the columns it shows, so it is dropped first and created again afterwards. Neither
 * statement has a CASCADE: when something depends on the view or on a column, nothing is changed.
 */
async function tryAlter(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<boolean> {
  const actions = changes.map(({ field, to }) => {
    const column = quoted(field.column);
    return to === 'number'
      ? `ALTER COLUMN ${column} TYPE numeric USING NULL`
      : `ALTER COLUMN ${column} TYPE text USING ${column}::text`;
  });
  const isShown = changes.some(({ field }) => field.viewLabel !== null);
  try {
    await inSavepoint(tx, async () => {
      if (isShown) await tx.exec(`DROP VIEW IF EXISTS ${qualified(schema, form.view)}`);
      await tx.exec(`ALTER TABLE ${qualified(schema, form.table)} ${actions.join(', ')}`);
    });
    return true;
  } catch (error) {
    if (isBlockedByDependants(error)) return false;
    throw error;
  }
}

/**
 * For a number column that something depends on: it is renamed, which views and other dependants follow by themselves,
 * and a text column takes its place.
 */
async function addTextColumn(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  field: FieldColumn,
): Promise<FieldColumn> {
  const table = qualified(schema, form.table);
  const present = await postgresColumns(tx, table);
  const taken = new Set([...(present ?? []), ...form.fields.map((other) => other.column)]);
  const twin = numberTwinName(field, taken);
  const [column, number] = [quoted(field.column), quoted(twin)];
  await tx.exec(`ALTER TABLE ${table} RENAME COLUMN ${column} TO ${number}`);
  await tx.exec(`ALTER TABLE ${table} ADD COLUMN ${column} text`);
  await tx.exec(`UPDATE ${table} SET ${column} = ${number}::text WHERE ${number} IS NOT NULL`);
  // The view's column follows the renamed one.
  const { viewLabel } = field;
  return {
    ...field,
    type: 'text',
    numberColumn: twin,
    viewLabel: null,
    numberViewLabel: viewLabel,
  };
}

/** GRANT statements that restore the present rights on the view after it was created again. */
export async function grantsOn(tx: SqlSession, schema: string, view: string): Promise<string[]> {
  const name = qualified(schema, view);
  const rows = await tx.query(
    `WITH view AS (SELECT oid, relacl, relowner FROM pg_class WHERE oid = to_regclass($1)),
     rights AS (
       SELECT relowner, '' AS columns, (aclexplode(relacl)).* FROM view
       UNION ALL
       SELECT relowner, format(' (%I)', attname), (aclexplode(attacl)).*
       FROM view JOIN pg_attribute ON attrelid = view.oid AND attacl IS NOT NULL)
     SELECT format('GRANT %s%s ON %s TO %s%s', privilege_type, columns, $1::text,
       CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
       CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
     FROM rights WHERE grantee <> relowner`,
    [name],
  );
  return rows.map((row) => textOf(row, 'statement'));
}
