import { partsOf } from '../answer-parts.ts';
import type { NewColumn } from '../dialect.ts';
import { type FormTable, MORE_COLUMN } from '../field-column.ts';
import { columnsByRelation, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { backticked } from './mysql-literal.ts';

/** Types of the catalogue, and of what every table of a form has. Lengths are in characters, of at most 4 bytes in a key. */
export const CATALOGUE_TYPES = {
  text: 'longtext',
  // Three of them, or two and two words, make the longest key: 3,072 bytes.
  id: 'varchar(255)',
  word: 'varchar(128)',
  key: 'varchar(700)',
  time: 'datetime(6)',
  integer: 'bigint',
  boolean: 'boolean',
  serial: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
} as const;

/** See {@link SqlDialect.answerTypes}. */
export const MYSQL_TYPES = {
  number: 'double',
  text: 'longtext',
  json: 'longtext',
  more: 'longtext',
} as const;

const { id: ID, time: TIME } = CATALOGUE_TYPES;

/** A column of answers as CREATE and ALTER TABLE define it. */
export function definition({ name, type }: NewColumn): string {
  const check = type === 'json' ? ` CHECK (json_valid(${quoted(name)}))` : '';
  return `${quoted(name)} ${MYSQL_TYPES[type]} NULL${check}`;
}

const MORE_DEFINITION = `${MORE_COLUMN} ${MYSQL_TYPES.more} NULL`;

/** Names of everything in the database that a table's name must differ from. */
export async function mysqlNames(session: SqlSession): Promise<Set<string>> {
  const rows = await session.query(
    'SELECT lower(table_name) AS name FROM information_schema.tables WHERE table_schema = database()',
  );
  return new Set(rows.map((row) => textOf(row, 'name')));
}

/** See {@link SqlDialect.columnsOf}. */
export async function mysqlColumns(
  session: SqlSession,
  relation: string,
): Promise<string[] | undefined> {
  const rows = await session.query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = database() AND table_name = $1 ORDER BY ordinal_position`,
    [relation],
  );
  return rows.length === 0 ? undefined : rows.map((row) => textOf(row, 'name'));
}

/** See {@link SqlDialect.columnsOfEach}. */
export async function mysqlColumnsOfEach(
  session: SqlSession,
  relations: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const rows = await session.query(
    `SELECT c.table_name AS relation, c.column_name AS name FROM information_schema.columns AS c
     WHERE c.table_schema = database() AND c.table_name IN ($1) AND c.table_name NOT IN (
       SELECT v.table_name FROM information_schema.views AS v WHERE v.table_schema = database())
     ORDER BY c.table_name, c.ordinal_position`,
    [[...relations]],
  );
  return columnsByRelation(rows);
}

/** Makes a form's table. Where a process died that had just made one under this name, it is that one. */
export async function createMysqlTable(tx: SqlSession, form: FormTable): Promise<void> {
  const parts = partsOf(form.fields);
  const columns = [
    `id ${ID} NOT NULL PRIMARY KEY`,
    `status ${ID} NOT NULL`,
    `created_at ${TIME} NULL`,
    ...parts.filter(({ storage }) => storage === 'column').map(definition),
    ...(parts.some(({ storage }) => storage === 'more') ? [MORE_DEFINITION] : []),
    `_first_seen_at ${TIME} NOT NULL`,
    `_changed_at ${TIME} NOT NULL`,
    `_deleted_at ${TIME} NULL`,
    ...[STATUS_INDEX, DATE_INDEX].map((index) => `INDEX (${index.join(', ')})`),
  ];
  await tx.exec(`CREATE TABLE ${backticked(form.table)} (${columns.join(', ')})`);
}

/**
 * There are no partial indexes: live rows are those of one value of the first column. Each ends with the key, unsaid; that by
 * date gives rows in the order of dates and IDs, and tells their statuses.
 */
const STATUS_INDEX = ['_deleted_at', 'status'];
const DATE_INDEX = ['_deleted_at', 'created_at', 'id', 'status'];

/** See {@link SqlDialect.addStatusIndex}. */
export const addMysqlStatusIndex = (tx: SqlSession, table: string): Promise<void> =>
  ensureIndex(tx, table, STATUS_INDEX);

/** See {@link SqlDialect.ensureChangeIndex}. */
export async function ensureMysqlChangeIndex(tx: SqlSession, table: string): Promise<void> {
  // Dropped while a pass was running: the next full one makes it.
  if ((await mysqlColumns(tx, table))?.includes('_changed_at') !== true) return;
  await ensureIndex(tx, table, ['_changed_at']);
}

/** See {@link SqlDialect.ensureDateIndex}. */
export const ensureMysqlDateIndex = (tx: SqlSession, table: string): Promise<void> =>
  ensureIndex(tx, table, DATE_INDEX);

async function ensureIndex(
  tx: SqlSession,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const indexes = await indexesOf(tx, table);
  if (indexes.some((index) => index.columns.join() === columns.join())) return;
  await tx.exec(`ALTER TABLE ${backticked(table)} ADD INDEX (${columns.join(', ')})`);
}

/** See {@link SqlDialect.hasKey}. */
export async function hasMysqlKey(tx: SqlSession, table: string): Promise<boolean> {
  const indexes = await indexesOf(tx, table);
  return indexes.some(({ isUnique, columns }) => isUnique && columns.join() === 'id');
}

/** See {@link SqlDialect.addKey}. People may have made another column the primary key meanwhile. */
export async function addMysqlKey(tx: SqlSession, table: string): Promise<void> {
  const isTaken = (await indexesOf(tx, table)).some(({ name }) => name === 'PRIMARY');
  await tx.exec(
    `ALTER TABLE ${backticked(table)} ADD ${isTaken ? 'UNIQUE INDEX' : 'PRIMARY KEY'} (id)`,
  );
}

interface Index {
  readonly name: string;
  readonly isUnique: boolean;
  readonly columns: readonly string[];
}

/** The indexes of a table over whole columns. */
async function indexesOf(session: SqlSession, table: string): Promise<Index[]> {
  const rows = await session.query(
    `SELECT index_name AS name, non_unique AS many, coalesce(sub_part, 0) AS part, column_name AS col
     FROM information_schema.statistics WHERE table_schema = database() AND table_name = $1
     ORDER BY index_name, seq_in_index`,
    [table],
  );
  const byName = Map.groupBy(rows, (row) => textOf(row, 'name'));
  return [...byName]
    .filter(([, columns]) => columns.every((row) => numberOf(row, 'part') === 0))
    .map(([name, columns]) => ({
      name,
      isUnique: columns.every((row) => numberOf(row, 'many') === 0),
      columns: columns.map((row) => String(row['col'])),
    }));
}

/** See {@link SqlDialect.addColumns}. */
export async function addMysqlColumns(
  tx: SqlSession,
  table: string,
  columns: readonly NewColumn[],
  withMore: boolean,
): Promise<void> {
  const definitions = [...columns.map(definition), ...(withMore ? [MORE_DEFINITION] : [])];
  const additions = definitions.map((column) => `ADD COLUMN ${column}`);
  await tx.exec(`ALTER TABLE ${backticked(table)} ${additions.join(', ')}`);
}

/** The declared types of a table's columns, in lower case, by their names. */
export async function mysqlTypesOf(
  session: SqlSession,
  table: string,
): Promise<Map<string, string>> {
  const rows = await session.query(
    `SELECT column_name AS name, lower(data_type) AS type FROM information_schema.columns
     WHERE table_schema = database() AND table_name = $1`,
    [table],
  );
  return new Map(rows.map((row) => [textOf(row, 'name'), textOf(row, 'type')]));
}
