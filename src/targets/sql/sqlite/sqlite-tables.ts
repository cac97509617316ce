import { uniqueName } from '../../../mirror/column-names.ts';
import { partsOf } from '../answer-parts.ts';
import type { NewColumn } from '../dialect.ts';
import { type FormTable, MORE_COLUMN } from '../field-column.ts';
import { columnsByRelation, quoted, type SqlSession, textOf } from '../sql-session.ts';

/** Names of everything in the file, and those that SQLite keeps for itself. */
export async function sqliteNames(session: SqlSession): Promise<Set<string>> {
  const rows = await session.query('SELECT lower(name) AS name FROM sqlite_schema');
  return new Set(rows.map((row) => textOf(row, 'name')));
}

/** See {@link SqlDialect.columnsOf}. */
export async function sqliteColumns(
  session: SqlSession,
  relation: string,
): Promise<string[] | undefined> {
  const { of } = await seenColumns(session);
  const known = of.get(relation);
  if (known !== undefined) return [...known];
  const rows = await session.query('SELECT name FROM pragma_table_xinfo($1) ORDER BY cid', [
    relation,
  ]);
  if (rows.length === 0) return undefined;
  const columns = rows.map((row) => textOf(row, 'name'));
  of.set(relation, columns);
  return [...columns];
}

/** See {@link SqlDialect.columnsOfEach}. */
export async function sqliteColumnsOfEach(
  session: SqlSession,
  relations: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const { ofEach } = await seenColumns(session);
  const known = ofEach.get(relations);
  if (known !== undefined) return new Map(known);
  const rows = await session.query(
    `SELECT s.name AS relation, c.name AS name FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c
     WHERE s.type = 'table' AND s.name IN (SELECT value FROM json_each($1)) ORDER BY s.name, c.cid`,
    [JSON.stringify([...relations])],
  );
  const columns = columnsByRelation(rows);
  ofEach.set(relations, columns);
  return new Map(columns);
}

/** Columns as a session has read them at one version of the schema. */
interface SeenColumns {
  readonly version: string;
  readonly of: Map<string, readonly string[]>;
  readonly ofEach: WeakMap<ReadonlySet<string>, ReadonlyMap<string, string[]>>;
}

const seenBy = new WeakMap<SqlSession, SeenColumns>();

/**
 * What a session has seen of columns, which every pass asks for again and again: SQLite counts each change of the schema,
 * whoever makes it, so that what was read holds as long as that number stands. Read before the columns: what changes in
 * between is read again.
 */
async function seenColumns(session: SqlSession): Promise<SeenColumns> {
  const rows = await session.query('PRAGMA schema_version');
  const version = String(rows[0]?.['schema_version']);
  const seen = seenBy.get(session);
  if (seen?.version === version) return seen;
  const fresh: SeenColumns = { version, of: new Map(), ofEach: new WeakMap() };
  seenBy.set(session, fresh);
  return fresh;
}

/**
 * See {@link SqlDialect.answerTypes}. Readers that go by the declared type (DuckDB, ODBC, JDBC) need one. A number column has
 * affinity NUMERIC, as no text is ever stored there that it could turn into a number
 * (https://www.sqlite.org/datatype3.html).
 */
export const SQLITE_TYPES = {
  number: 'NUMERIC',
  text: 'TEXT',
  json: 'TEXT',
  more: 'TEXT',
} as const;

const MORE_DEFINITION = `${MORE_COLUMN} ${SQLITE_TYPES.more}`;

const definition = ({ name, type }: NewColumn): string => `${quoted(name)} ${SQLITE_TYPES[type]}`;

/**
 * Makes a form's table. The index by status is made later: IDs come in any order, so that it would cost a first pass a third
 * of its writing.
 */
export async function createSqliteTable(tx: SqlSession, form: FormTable): Promise<void> {
  const parts = partsOf(form.fields);
  const columns = [
    'id TEXT PRIMARY KEY NOT NULL',
    'status TEXT NOT NULL',
    'created_at TEXT',
    ...parts.filter(({ storage }) => storage === 'column').map(definition),
    ...(parts.some(({ storage }) => storage === 'more') ? [MORE_DEFINITION] : []),
    '_first_seen_at TEXT NOT NULL',
    '_changed_at TEXT NOT NULL',
    '_deleted_at TEXT',
  ];
  await tx.exec(`CREATE TABLE ${quoted(form.table)} (${columns.join(', ')})`);
  await ensureSqliteDateIndex(tx, form.table);
}

/** See {@link SqlDialect.ensureStatusIndex}. */
export async function ensureSqliteStatusIndex(tx: SqlSession, table: string): Promise<void> {
  if (await hasIndex(tx, table, 'status,id', 'live')) return;
  const columns = new Set(await sqliteColumns(tx, table));
  // Dropped while a pass was running: the next one makes it again.
  if (!['status', 'id', '_deleted_at'].every((column) => columns.has(column))) return;
  await addLiveIndex(tx, table, 'status', 'status,id');
}

/** See {@link SqlDialect.ensureHistoryIndex}. As with the index by status, a first pass is far quicker without it. */
export async function ensureSqliteHistoryIndex(tx: SqlSession): Promise<void> {
  await tx.exec(
    'CREATE INDEX IF NOT EXISTS mirror_status_history_submission_id ON mirror_status_history (submission_id)',
  );
}

/** See {@link SqlDialect.ensureDateIndex}. */
export async function ensureSqliteDateIndex(tx: SqlSession, table: string): Promise<void> {
  if (await hasIndex(tx, table, 'created_at,status', 'live')) return;
  await addLiveIndex(tx, table, 'dates', 'created_at,status');
}

/** See {@link SqlDialect.ensureChangeIndex}. */
export async function ensureSqliteChangeIndex(tx: SqlSession, table: string): Promise<void> {
  if (await hasIndex(tx, table, '_changed_at', 'all')) return;
  // Dropped while a pass was running: the next full one makes it.
  if ((await sqliteColumns(tx, table))?.includes('_changed_at') !== true) return;
  const index = uniqueName(`${table}_changed`, await sqliteNames(tx), Infinity);
  await tx.exec(`CREATE INDEX ${quoted(index)} ON ${quoted(table)} (_changed_at)`);
}

/** Whether there is an index over these columns of live rows, or of all, whatever it is called. */
async function hasIndex(
  tx: SqlSession,
  table: string,
  columns: string,
  rows: 'live' | 'all',
): Promise<boolean> {
  const there = await tx.query(
    `SELECT l.name FROM pragma_index_list($1) AS l
     WHERE l.partial = $3 AND (SELECT group_concat(i.name) FROM pragma_index_info(l.name) AS i) = $2`,
    [table, columns, rows === 'live' ? 1 : 0],
  );
  return there.length > 0;
}

async function addLiveIndex(
  tx: SqlSession,
  table: string,
  suffix: string,
  columns: string,
): Promise<void> {
  const index = uniqueName(`${table}_${suffix}`, await sqliteNames(tx), Infinity);
  await tx.exec(
    `CREATE INDEX ${quoted(index)} ON ${quoted(table)} (${columns}) WHERE _deleted_at IS NULL`,
  );
}

/** See {@link SqlDialect.hasKey}. A copy of a table (CREATE TABLE … AS SELECT) has none. */
export async function hasSqliteKey(tx: SqlSession, table: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT l.name FROM pragma_index_list($1) AS l
     WHERE l."unique" = 1 AND l.partial = 0
       AND (SELECT group_concat(i.name) FROM pragma_index_info(l.name) AS i) = 'id'`,
    [table],
  );
  return rows.length > 0;
}

/** See {@link SqlDialect.addKey}: SQLite can't give a table a primary key once it is made. */
export async function addSqliteKey(tx: SqlSession, table: string): Promise<void> {
  const index = uniqueName(`${table}_id`, await sqliteNames(tx), Infinity);
  await tx.exec(`CREATE UNIQUE INDEX ${quoted(index)} ON ${quoted(table)} (id)`);
}

/** See {@link SqlDialect.addColumns}. */
export async function addSqliteColumns(
  tx: SqlSession,
  table: string,
  columns: readonly NewColumn[],
  withMore: boolean,
): Promise<void> {
  for (const column of [...columns.map(definition), ...(withMore ? [MORE_DEFINITION] : [])]) {
    await tx.exec(`ALTER TABLE ${quoted(table)} ADD COLUMN ${column}`);
  }
}
