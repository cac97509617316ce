import { type Dialect, formTable, inSavepoint, literal, type Param, quoted } from '../dialect.ts';
import { STAGE, type Staging } from '../write-rows.ts';
import { describeSqliteError } from './sqlite-errors.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { sqliteViews } from './sqlite-views.ts';

const STAGING: Staging = {
  stage: `temp.${STAGE}`,
  /** One with these columns is kept, because SQLite compiles all statements again after a table is made. */
  async make(tx, columns) {
    const table = `TABLE ${STAGE} (${columns})`;
    const [made] = await tx.query('SELECT sql FROM temp.sqlite_schema WHERE name = $1', [STAGE]);
    if (made?.['sql'] === `CREATE ${table}`) {
      await tx.run(`DELETE FROM temp.${STAGE}`);
      return;
    }
    await tx.run(`DROP TABLE IF EXISTS temp.${STAGE}`);
    await tx.run(`CREATE TEMPORARY ${table}`);
  },
  pack: (values) => values,
  /** Comparing a row with the one in the table takes less time than staging it, so equal rows are left out. */
  async load(tx, { into, names, rows, same, comparedWith }) {
    const values = names.map((_, at) => `?${at + 1}`).join(', ');
    const rest =
      comparedWith === undefined
        ? `VALUES (${names.map(() => '?').join(', ')})`
        : `SELECT ${values} WHERE NOT EXISTS (SELECT 1 FROM ${comparedWith} WHERE id = ?1 AND _deleted_at IS NULL AND (${names.join(', ')}) IS (${values}))`;
    const insert = `INSERT INTO ${into} (${names.join(', ')}) ${rest}`;
    await (tx as SqliteConnection).runEach(insert, rows as readonly (readonly Param[])[], same);
  },
  joined: (to) => `temp.${STAGE} AS s LEFT JOIN ${to} AS t ON t.id = s.id`,
  matched: (to) => `temp.${STAGE} AS s CROSS JOIN ${to} AS t ON t.id = s.id`,
  differs: (names) =>
    `(${names.map((name) => `t.${name}`).join(', ')}) IS NOT (${names.map((name) => `s.${name}`).join(', ')})`,
  mayAlter: true,
  answers: answersJson,
};

/** The dialect of SQLite. Times are ISO 8601 text, unchanged, because they have up to six digits of a second, and anyone can read them. */
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
  addsOneColumn: true,
  // A SQLite table or view has at most 2,000 columns (SQLITE_MAX_COLUMN); people may add some of their own.
  maxColumns: 1_900,
  takesNul: true,

  timeParam: (time) => time,
  isoOf: (expression) => expression,
  among: (expression, param) => `${expression} IN (SELECT value FROM json_each(${param}))`,
  async alone() {},

  columnsQuery:
    'SELECT t.value AS relation, p.name AS name FROM json_each($1) AS t, pragma_table_xinfo(t.value) AS p ORDER BY p.cid',
  relationsQuery: 'SELECT name, type AS kind FROM sqlite_schema',

  exact: int64,
  staging: STAGING,
  views: sqliteViews,
  formTable,
  async putView(tx, name, select) {
    await inSavepoint(tx, async () => {
      await tx.run(`DROP VIEW IF EXISTS ${quoted(name)}`);
      await tx.run(`CREATE VIEW ${quoted(name)} AS ${select}`);
    });
  },
  describe: describeSqliteError,
};

/** SQLite stores whole numbers in a NUMERIC column as integers. */
function int64(digits: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(digits)) return undefined;
  const integer = BigInt(digits);
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}

/** Not `json_object`, because a SQLite function may take no more than 127 arguments. */
function answersJson(names: readonly string[]): string {
  if (names.length === 0) return "'{}'";
  const rows = names.map((name) => `(${literal(name)}, t.${quoted(name)})`);
  return `(WITH a(name, answer) AS (VALUES ${rows.join(', ')}) SELECT json_group_object(name, answer) FROM a)`;
}
