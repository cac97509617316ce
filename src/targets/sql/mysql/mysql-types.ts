import { partsOf } from '../answer-parts.ts';
import type { DecidedTypes, NewColumn, TypeChange } from '../dialect.ts';
import type { FieldColumn, FormTable } from '../field-column.ts';
import { quoted, type SqlSession, textOf } from '../sql-session.ts';
import { isBlockedByDependants } from './mysql-errors.ts';
import { backticked } from './mysql-literal.ts';
import { sessionOf } from './mysql-locks.ts';
import { definition, MYSQL_TYPES, mysqlTypesOf } from './mysql-tables.ts';

/**
 * See {@link SqlDialect.decideTypes}. What was decided is in the catalogue before a column is changed, which commits it: a
 * process that dies in between leaves the change to {@link finishMysqlTypes}.
 */
export async function decideMysqlTypes(
  tx: SqlSession,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<DecidedTypes> {
  const blank = await blankColumns(
    tx,
    form.table,
    changes.map(({ field }) => field.column),
  );
  const declared = await mysqlTypesOf(tx, form.table);
  const isOfType = ({ field, to }: TypeChange): boolean =>
    to === 'number' && declared.get(field.column) === MYSQL_TYPES.number;
  const untouched = await untouchedColumns(tx, form.table);
  const mayChange = ({ field }: TypeChange): boolean =>
    blank.has(field.column) && untouched.has(field.column);
  const wanted = changes.filter((change) => isOfType(change) || mayChange(change));
  for (const { field, to } of wanted) {
    await tx.query(
      `UPDATE ${backticked('mirror_fields')} SET type = $1 WHERE form_id = $2 AND field_id = $3`,
      [to, form.form.id, field.id],
    );
  }
  const open = wanted.filter((change) => !isOfType(change));
  const changed = await changeColumns(
    tx,
    form.table,
    open.map(({ field, to }) => ({ name: field.column, type: to })),
  );
  const fields = changes.map((change): FieldColumn => {
    const { field, to } = change;
    return { ...field, type: isOfType(change) || changed.has(field.column) ? to : 'text' };
  });
  return { fields, afterView: [] };
}

/** See {@link SqlDialect.finishTypes}. */
export async function finishMysqlTypes(tx: SqlSession, form: FormTable): Promise<void> {
  const declared = await mysqlTypesOf(tx, form.table);
  const late = partsOf(form.fields).filter(
    ({ kind, storage, type, name }) =>
      kind === 'own' &&
      storage === 'column' &&
      type === 'number' &&
      declared.get(name) === MYSQL_TYPES.text,
  );
  if (late.length === 0) return;
  const blank = await blankColumns(
    tx,
    form.table,
    late.map(({ name }) => name),
  );
  const untouched = await untouchedColumns(tx, form.table);
  await changeColumns(
    tx,
    form.table,
    late.filter(({ name }) => blank.has(name) && untouched.has(name)),
  );
}

/**
 * The columns of texts that are as they were made. A change of the type says all of a column's definition anew, and would take away
 * what people put into it: a default, a check, a collation, that it is hidden.
 */
async function untouchedColumns(tx: SqlSession, table: string): Promise<Set<string>> {
  const { isMariaDb, collation } = sessionOf(tx).server;
  const rows = await tx.query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = database() AND table_name = $1 AND data_type = 'longtext' AND collation_name = $2
       AND is_nullable = 'YES' AND extra = '' AND coalesce(column_default, 'NULL') = 'NULL'
       AND coalesce(generation_expression, '') = ''`,
    [table, collation],
  );
  const checks = isMariaDb ? await checksOf(tx, [table]) : new Map<string, string>();
  const names = rows.map((row) => textOf(row, 'name'));
  return new Set(names.filter((name) => !checks.has(checkKey(table, name))));
}

/** Those of these columns of texts in which there is nothing but blanks. */
async function blankColumns(
  tx: SqlSession,
  table: string,
  columns: readonly string[],
): Promise<Set<string>> {
  if (columns.length === 0) return new Set();
  const counts = columns.map((column) => `count(nullif(CAST(${quoted(column)} AS char), ''))`);
  const [row = []] = await tx.queryArrays(`SELECT ${counts.join(', ')} FROM ${backticked(table)}`);
  return new Set(columns.filter((_column, nth) => Number(row[nth]) === 0));
}

/** Changes all columns at once, or, where one can't be changed, each by itself; the names of those that were. */
async function changeColumns(
  tx: SqlSession,
  table: string,
  columns: readonly NewColumn[],
): Promise<Set<string>> {
  if (columns.length === 0) return new Set();
  if (await tryChange(tx, table, columns)) return new Set(columns.map(({ name }) => name));
  const changed = new Set<string>();
  if (columns.length === 1) return changed;
  for (const column of columns) {
    if (await tryChange(tx, table, [column])) changed.add(column.name);
  }
  return changed;
}

/** Views of people and of ours follow by themselves. */
async function tryChange(
  tx: SqlSession,
  table: string,
  columns: readonly NewColumn[],
): Promise<boolean> {
  const relation = backticked(table);
  try {
    for (const { name } of columns) {
      const column = quoted(name);
      await tx.query(`UPDATE ${relation} SET ${column} = NULL WHERE ${column} = ''`);
    }
    const actions = columns.map((column) => `MODIFY COLUMN ${definition(column)}`);
    await tx.exec(`ALTER TABLE ${relation} ${actions.join(', ')}`);
    return true;
  } catch (error) {
    if (isBlockedByDependants(error)) return false;
    throw error;
  }
}

/**
 * The checks that MariaDB keeps as parts of columns, under their names; MySQL has them beside. That of JSON comes with the type;
 * to say any other again would have the server test all rows.
 */
async function checksOf(tx: SqlSession, tables: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query(
    `SELECT table_name AS relation, constraint_name AS name, check_clause AS clause
     FROM information_schema.check_constraints WHERE constraint_schema = database() AND table_name IN ($1)`,
    [tables],
  );
  return new Map(
    rows.map((row) => [
      checkKey(textOf(row, 'relation'), textOf(row, 'name')),
      textOf(row, 'clause'),
    ]),
  );
}

/** By what {@link checksOf} gives the check of a column. */
const checkKey = (table: string, column: string): string => JSON.stringify([table, column]);
