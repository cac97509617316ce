import type { DecidedTypes, TypeChange } from '../dialect.ts';
import type { FieldColumn, FormTable } from '../field-column.ts';
import { numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { declareTypes } from './sqlite-declaration.ts';
import { SQLITE_TYPES } from './sqlite-tables.ts';

/** See {@link SqlDialect.decideTypes}. */
export async function decideSqliteTypes(
  tx: SqlSession,
  form: FormTable,
  changes: readonly TypeChange[],
): Promise<DecidedTypes> {
  const table = quoted(form.table);
  const empty: TypeChange[] = [];
  for (const change of changes) {
    const column = quoted(change.field.column);
    const [row] = await tx.query(`SELECT count(nullif(${column}, '')) AS filled FROM ${table}`);
    if (row === undefined || numberOf(row, 'filled') > 0) continue;
    await tx.query(`UPDATE ${table} SET ${column} = NULL WHERE ${column} = ''`);
    empty.push(change);
  }
  const wanted = empty.map(({ field, to }) => [field.column, SQLITE_TYPES[to]] as const);
  const declared = await declare(tx, form.table, new Map(wanted));
  const fields = changes.map((change): FieldColumn => {
    const { field, to } = change;
    const isOfType = empty.includes(change) && declared.get(field.column) === SQLITE_TYPES[to];
    return { ...field, type: isOfType ? to : 'text' };
  });
  return { fields, afterView: [] };
}

async function declaredTypes(tx: SqlSession, table: string): Promise<Map<string, string>> {
  const rows = await tx.query('SELECT name, type FROM pragma_table_xinfo($1)', [table]);
  return new Map(rows.map((row) => [textOf(row, 'name'), textOf(row, 'type')]));
}

/**
 * Declares columns to be of these types, where they have none or are declared to hold texts; the types that there are then.
 * SQLite can't change a type by ALTER, and to make the table again would lose what people built on it. So its definition is
 * written anew, as https://www.sqlite.org/lang_altertable.html ("making other kinds of table schema changes") has it for
 * changes that leave the rows as they are: no value in these columns is stored otherwise under its new type.
 */
async function declare(
  tx: SqlSession,
  table: string,
  types: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const before = await declaredTypes(tx, table);
  const [row] = await tx.query("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = $1", [
    table,
  ]);
  const [version] = await tx.query('PRAGMA schema_version');
  if (row === undefined || version === undefined) return before;
  const sql = textOf(row, 'sql');
  const next = declareTypes(sql, types);
  if (next === sql) return before;
  await tx.exec('PRAGMA writable_schema = ON');
  await tx.query("UPDATE sqlite_schema SET sql = $1 WHERE type = 'table' AND name = $2", [
    next,
    table,
  ]);
  // Other connections, and then this one, read the definitions anew.
  await tx.exec(
    `PRAGMA schema_version = ${numberOf(version, 'schema_version') + 1}; PRAGMA writable_schema = RESET`,
  );
  return declaredTypes(tx, table);
}
