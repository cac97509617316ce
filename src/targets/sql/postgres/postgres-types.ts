import type { DecidedTypes, TypeChange } from '../dialect.ts';
import type { FieldColumn, FormTable } from '../field-column.ts';
import { inSavepoint, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { isBlockedByDependants } from './postgres-errors.ts';
import { qualified } from './postgres-names.ts';
import { POSTGRES_TYPES } from './postgres-tables.ts';

/** See {@link SqlDialect.decideTypes}. */
export async function decidePostgresTypes(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<DecidedTypes> {
  const grants = await grantsOn(tx, schema, form.view);
  const empty = await emptyColumns(
    tx,
    schema,
    form,
    changes.map(({ field }) => field),
  );
  const candidates = changes.filter(({ field }) => empty.has(field));
  const altered = await alterColumns(tx, schema, form, candidates);
  const fields = changes.map(({ field, to }): FieldColumn => {
    return { ...field, type: altered.has(field) ? to : 'text' };
  });
  return { fields, afterView: grants };
}

/** Those of the fields whose columns hold no values that users wrote. */
async function emptyColumns(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  fields: readonly FieldColumn[],
): Promise<Set<FieldColumn>> {
  if (fields.length === 0) return new Set();
  const counts = fields.map((field) => `count(nullif(${quoted(field.column)}, ''))`);
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
    return `ALTER COLUMN ${quoted(field.column)} TYPE ${POSTGRES_TYPES[to]} USING NULL`;
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
