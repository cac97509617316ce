import { partsOf } from '../answer-parts.ts';
import type { NewColumn } from '../dialect.ts';
import { type FormTable, MORE_COLUMN } from '../field-column.ts';
import { columnsByRelation, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { lockKey, qualified } from './postgres-names.ts';

/** Names of everything in the schema that a table's name must differ from: relations, indexes, types. */
export async function postgresNames(session: SqlSession, schema: string): Promise<Set<string>> {
  const rows = await session.query(
    `SELECT lower(relname) AS name FROM pg_class WHERE relnamespace = to_regnamespace($1)
     UNION SELECT lower(typname) FROM pg_type WHERE typnamespace = to_regnamespace($1)`,
    [quoted(schema)],
  );
  return new Set(rows.map((row) => textOf(row, 'name')));
}

/** See {@link SqlDialect.columnsOf}. */
export async function postgresColumns(
  session: SqlSession,
  relation: string,
): Promise<string[] | undefined> {
  const rows = await session.query(
    `SELECT attname FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [relation],
  );
  return rows.length === 0 ? undefined : rows.map((row) => textOf(row, 'attname'));
}

/** See {@link SqlDialect.columnsOfEach}. */
export async function postgresColumnsOfEach(
  session: SqlSession,
  schema: string,
  relations: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const rows = await session.query(
    `SELECT c.relname AS relation, a.attname AS name FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
     WHERE c.relnamespace = to_regnamespace($1) AND c.relname = ANY($2::text[]) AND c.relkind IN ('r', 'p', 'f')
       AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attnum`,
    [quoted(schema), [...relations]],
  );
  return columnsByRelation(rows);
}

/** See {@link SqlDialect.lockCatalogue}. */
export async function lockSchema(tx: SqlSession, schema: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [lockKey(schema, 'catalogue')]);
  // Not IF NOT EXISTS: that asks for the right to create schemas even when there is nothing to create.
  const [row] = await tx.query('SELECT to_regnamespace($1)::text AS name', [quoted(schema)]);
  if (row?.['name'] === null) await tx.exec(`CREATE SCHEMA ${quoted(schema)}`);
}

/** Makes a form's table. */
export async function createPostgresTable(
  tx: SqlSession,
  schema: string,
  form: FormTable,
): Promise<void> {
  const table = qualified(schema, form.table);
  const parts = partsOf(form.fields);
  const columns = [
    'id text PRIMARY KEY',
    'status text NOT NULL',
    'created_at timestamptz',
    ...parts.filter(({ storage }) => storage === 'column').map(definition),
    ...(parts.some(({ storage }) => storage === 'more') ? [MORE_DEFINITION] : []),
    '_first_seen_at timestamptz NOT NULL',
    '_changed_at timestamptz NOT NULL',
    '_deleted_at timestamptz',
  ];
  await tx.exec(`CREATE TABLE ${table} (${columns.join(', ')})`);
  await ensurePostgresDateIndex(tx, schema, form.table);
}

/** See {@link SqlDialect.ensureStatusIndex}: made once the rows are there, as IDs come in any order. */
export async function ensurePostgresStatusIndex(
  tx: SqlSession,
  schema: string,
  table: string,
): Promise<void> {
  const name = qualified(schema, table);
  if (await hasIndex(tx, name, ['status', 'id'], 'live')) return;
  const columns = await postgresColumns(tx, name);
  // Dropped while a pass was running: the next one makes it again.
  if (!['status', 'id', '_deleted_at'].every((column) => columns?.includes(column))) return;
  await tx.exec(`CREATE INDEX ON ${name} (status, id) WHERE _deleted_at IS NULL`);
}

/**
 * See {@link SqlDialect.ensureHistoryIndex}. By hashes: it is asked for single IDs alone, which a tree would have to compare
 * by the rules of a language.
 */
export async function ensurePostgresHistoryIndex(tx: SqlSession, schema: string): Promise<void> {
  const name = qualified(schema, 'mirror_status_history');
  const isThere = async (): Promise<boolean> =>
    (await postgresColumns(tx, name)) === undefined ||
    (await hasIndex(tx, name, ['submission_id'], 'all'));
  if (await isThere()) return;
  // Of two that come to this at once, the second one would make another.
  await lockSchema(tx, schema);
  if (!(await isThere())) await tx.exec(`CREATE INDEX ON ${name} USING hash (submission_id)`);
}

/** See {@link SqlDialect.ensureDateIndex}. */
export async function ensurePostgresDateIndex(
  tx: SqlSession,
  schema: string,
  table: string,
): Promise<void> {
  const name = qualified(schema, table);
  if (await hasIndex(tx, name, ['created_at', 'status'], 'live')) return;
  await tx.exec(`CREATE INDEX ON ${name} (created_at, status) WHERE _deleted_at IS NULL`);
}

/** See {@link SqlDialect.ensureChangeIndex}. */
export async function ensurePostgresChangeIndex(
  tx: SqlSession,
  schema: string,
  table: string,
): Promise<void> {
  const name = qualified(schema, table);
  if (await hasIndex(tx, name, ['_changed_at'], 'all')) return;
  // Dropped while a pass was running: the next full one makes it.
  if ((await postgresColumns(tx, name))?.includes('_changed_at') !== true) return;
  await tx.exec(`CREATE INDEX ON ${name} (_changed_at)`);
}

/** Whether there is an index over these columns of live rows, or of all, whatever it is called. */
async function hasIndex(
  tx: SqlSession,
  table: string,
  columns: readonly string[],
  rows: 'live' | 'all',
): Promise<boolean> {
  const there = await tx.query(
    `SELECT 1 AS found FROM pg_index AS i
     WHERE i.indrelid = to_regclass($1) AND i.indisvalid AND (i.indpred IS NOT NULL) = $3
       AND (SELECT array_agg(a.attname::text ORDER BY k.place)
            FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
            JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum)
         = $2::text[]`,
    [table, columns, rows === 'live' ? 'true' : 'false'],
  );
  return there.length > 0;
}

/** `FROM … WHERE …`: what keeps an ID from being in a table twice, whatever it is called. */
export const keysOf = (table: string): string =>
  `FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attname = 'id'
   WHERE i.indrelid = ${table} AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL
     AND i.indkey::text = a.attnum::text`;

/** See {@link SqlDialect.hasKey}. */
export async function hasPostgresKey(
  tx: SqlSession,
  schema: string,
  table: string,
): Promise<boolean> {
  const rows = await tx.query(`SELECT 1 AS found ${keysOf('to_regclass($1)')}`, [
    qualified(schema, table),
  ]);
  return rows.length > 0;
}

/** See {@link SqlDialect.addKey}. People may have made another column the primary key meanwhile. */
export async function addPostgresKey(tx: SqlSession, schema: string, table: string): Promise<void> {
  const name = qualified(schema, table);
  const [row] = await tx.query(
    'SELECT count(*) AS keys FROM pg_index WHERE indrelid = to_regclass($1) AND indisprimary',
    [name],
  );
  const isFree = row !== undefined && numberOf(row, 'keys') === 0;
  await tx.exec(
    isFree ? `ALTER TABLE ${name} ADD PRIMARY KEY (id)` : `CREATE UNIQUE INDEX ON ${name} (id)`,
  );
}

/** See {@link SqlDialect.addColumns}. */
export async function addPostgresColumns(
  tx: SqlSession,
  schema: string,
  table: string,
  columns: readonly NewColumn[],
  withMore: boolean,
): Promise<void> {
  const definitions = [...columns.map(definition), ...(withMore ? [MORE_DEFINITION] : [])];
  const additions = definitions.map((column) => `ADD COLUMN ${column}`);
  await tx.exec(`ALTER TABLE ${qualified(schema, table)} ${additions.join(', ')}`);
}

/** See {@link SqlDialect.answerTypes}. */
export const POSTGRES_TYPES = {
  number: 'numeric',
  text: 'text',
  json: 'jsonb',
  more: 'jsonb',
} as const;

const MORE_DEFINITION = `${MORE_COLUMN} ${POSTGRES_TYPES.more}`;

const definition = ({ name, type }: NewColumn): string => `${quoted(name)} ${POSTGRES_TYPES[type]}`;
