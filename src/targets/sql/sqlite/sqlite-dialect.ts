import { cellText } from '../../../mirror/cells.ts';
import { jsonDepth } from '../../../mirror/json.ts';
import type { Cell } from '../../../mirror/types.ts';
import {
  type Batch,
  type ColumnType,
  type Dialect,
  inSavepoint,
  literal,
  liveIndex,
  numberOf,
  onConflict,
  type Param,
  quoted,
  type Session,
  textOf,
  type VersionPlan,
  type Written,
} from '../dialect.ts';
import { Swallowed } from '../errors.ts';
import { describeSqliteError, refusalOf } from './sqlite-errors.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { sqliteViews } from './sqlite-views.ts';

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** How deep SQLite's functions for JSON go (JSON_MAX_DEPTH). */
const MAX_JSON_DEPTH = 1_000;
const CONDITIONS_A_GROUP = 50;
/** SQLite takes 127 arguments of a function. */
const PAIRS_AT_ONCE = 60;

/** How SQLite does things. Times are ISO 8601 text, as they came. */
export const sqliteDialect: Dialect = {
  product: 'SQLite',
  version: 'sqlite_version()',
  types: {
    number: 'NUMERIC',
    text: 'TEXT',
    json: 'TEXT',
    time: 'TEXT',
    integer: 'INTEGER',
    key: 'TEXT',
    id: 'TEXT',
    word: 'TEXT',
  },
  // SQLite takes 2,000 columns in a table and a view (SQLITE_MAX_COLUMN); people may add some of their own.
  maxColumns: 1_900,
  takesNul: true,

  timeParam: (time) => time,
  timeOf: (value) => (value === null || value === undefined ? null : textOf(value)),
  isoOf: (expression) => expression,
  among: (expression, param) => `${expression} IN (SELECT value FROM json_each(${param}))`,
  onConflict,
  async alone() {},

  columnsQuery: 'SELECT name FROM pragma_table_info($1)',
  relationsQuery: "SELECT name, type AS kind FROM sqlite_schema WHERE type IN ('table', 'view')",

  encode,
  upsert,
  keepDeleted: (tx, _batch, versions) => keepVersions(tx, versions),
  refusal: refusalOf,
  views: sqliteViews,
  async indexLive(session, table) {
    await session.run(liveIndex(table));
  },
  async putView(tx, name, select) {
    await inSavepoint(tx, async () => {
      await tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
      await tx.run(`CREATE VIEW ${quoted(name)} AS ${select}`);
    });
  },
  describe: describeSqliteError,
};

function encode(cell: Cell, type: ColumnType): Param | undefined {
  // SQLite stores whole numbers in a NUMERIC column as integers.
  if (cell === null || typeof cell === 'string' || typeof cell === 'number') return cell;
  const text = cellText(cell) ?? '';
  if (type === 'json') return jsonDepth(text) > MAX_JSON_DEPTH ? undefined : text;
  return int64(text);
}

function int64(digits: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(digits)) return undefined;
  const integer = BigInt(digits);
  return integer <= MAX_INT64 && integer >= MIN_INT64 ? integer : undefined;
}

/** Row by row, by one statement: equal rows are not written, and nothing is looked up before. */
async function upsert(tx: Session, batch: Batch, versions: VersionPlan): Promise<Written> {
  const { table, columns, rows, at } = batch;
  await keepVersions(tx, versions);
  const to = quoted(table);
  const names = ['status', 'created_at', ...columns.map(({ name }) => quoted(name))];
  const places = Array.from({ length: names.length + 1 }, (_, index) => `$${index + 1}`).join(', ');
  const name = literal(at);
  const differs = anyOf(names.map((column) => `t.${column} IS NOT excluded.${column}`));
  const sql = `INSERT INTO ${to} AS t (id, ${names.join(', ')}, _first_seen_at, _changed_at) VALUES (${places}, ${name}, ${name})
    ON CONFLICT (id) DO UPDATE SET ${names.map((column) => `${column} = excluded.${column}`).join(', ')},
    _changed_at = excluded._changed_at, _deleted_at = NULL WHERE t._deleted_at IS NOT NULL OR ${differs}`;
  // The highest rowid shows whether it was an insert or an update: no other connection writes in between.
  const top = await topRow(tx, to);
  const now = new Map<string, number>();
  let changed = 0;
  for (const row of await (tx as SqliteConnection).changedBy(sql, rows)) {
    const status = textOf(row[1]);
    now.set(status, (now.get(status) ?? 0) + 1);
    changed++;
  }
  const inserted = changed === 0 ? 0 : (await topRow(tx, to)) - top;
  const before = new Map<string, number>();
  if (changed > inserted)
    for (const row of await tx.query(
      `SELECT status, count(*) AS n FROM ${REPLACED} WHERE is_live GROUP BY status`,
    ))
      before.set(textOf(row['status']), numberOf(row['n']));
  await requireStored(tx, batch);
  return { inserted, updated: changed - inserted, now, before };
}

/** In groups: an expression may be nested 1,000 deep, and a chain of ORs is as deep as it is long. */
function anyOf(conditions: readonly string[]): string {
  const groups: string[] = [];
  for (let start = 0; start < conditions.length; start += CONDITIONS_A_GROUP)
    groups.push(`(${conditions.slice(start, start + CONDITIONS_A_GROUP).join(' OR ')})`);
  return groups.join(' OR ');
}

async function topRow(tx: Session, to: string): Promise<number> {
  const [row] = await tx.query(`SELECT coalesce(max(rowid), 0) AS n FROM ${to}`);
  return numberOf(row?.['n']);
}

/** A trigger that people added may have swallowed or changed rows: then the target has failed, and they are not equal. */
async function requireStored(tx: Session, { table, columns, rows }: Batch): Promise<void> {
  const triggers = await tx.query(
    "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = $1",
    [table],
  );
  if (triggers.length === 0) return;
  const names = ['id', 'status', 'created_at', ...columns.map(({ name }) => name)];
  const differs = anyOf(names.map((name, index) => `${quoted(name)} IS NOT $${index + 1}`));
  const sql = `SELECT 1 FROM ${quoted(table)} WHERE id = $1 AND _deleted_at IS NULL AND NOT (${differs})`;
  for (const row of rows) {
    const found = await tx.query(sql, row);
    if (found.length === 0) throw new Swallowed(table);
  }
}

/** The versions before a batch of the rows that it updates: a table of this connection. */
const REPLACED = 'temp._mirror_replaced';

/**
 * A trigger of this connection keeps each version that any statement ends, and notes which rows are replaced. The
 * current version is the row itself.
 */
async function keepVersions(
  tx: Session,
  { formId, table, notBefore, answers }: VersionPlan,
): Promise<void> {
  const name = quoted(`versions of ${table}`);
  const to = quoted(table);
  const ends = answers === null ? 'OLD.status <> NEW.status' : 'OLD._changed_at <> NEW._changed_at';
  const since = notBefore === null ? 'NULL' : literal(notBefore);
  await tx.run(`CREATE TEMP TABLE IF NOT EXISTS _mirror_replaced (status TEXT, is_live INTEGER)`);
  await tx.run(`DELETE FROM ${REPLACED}`);
  await tx.run(`DROP TRIGGER IF EXISTS temp.${name}`);
  await tx.run(
    `CREATE TEMP TRIGGER ${name} AFTER UPDATE ON main.${to} BEGIN
     INSERT INTO _mirror_replaced VALUES (OLD.status, OLD._deleted_at IS NULL);
     INSERT OR IGNORE INTO _mirror_versions (form_id, submission_id, until, not_before, status, created_at, deleted_at, answers)
     SELECT ${literal(formId)}, OLD.id, NEW._changed_at, ${since}, OLD.status, OLD.created_at, OLD._deleted_at,
       ${answers === null ? 'NULL' : answersJson(answers)} WHERE ${ends}; END`,
  );
}

function answersJson(names: readonly string[]): string {
  const pieces: string[] = [];
  for (let start = 0; start < names.length; start += PAIRS_AT_ONCE)
    pieces.push(
      `json_object(${names
        .slice(start, start + PAIRS_AT_ONCE)
        .map((name) => `${literal(name)}, OLD.${quoted(name)}`)
        .join(', ')})`,
    );
  if (pieces.length === 0) return "'{}'";
  return pieces.reduce((all, piece) => `json_patch(${all}, ${piece})`);
}
