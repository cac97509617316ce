import { type Dialect, quoted, type Session, textOf } from '../dialect.ts';
import { type Loading, STAGE, type Staging } from '../write-rows.ts';
import { describeMysqlError } from './mysql-errors.ts';
import { textLiteral, valueLiteral } from './mysql-literal.ts';
import type { MysqlSession } from './mysql-connection.ts';
import { mysqlViews } from './mysql-views.ts';

const joined = (to: string): string => `${STAGE} AS s LEFT JOIN ${to} AS t ON t.id = s.id`;
// Joins from the staged rows to the table by its key, even if the server estimates their sizes differently.
const matched = (to: string): string => `${STAGE} AS s STRAIGHT_JOIN ${to} AS t ON t.id = s.id`;

/**
 * The rows go into a temporary table, which is joined to the form's table: rows that differ are updated, missing rows inserted. Not
 * `ON DUPLICATE KEY UPDATE`: if people added a unique key, it would update the row of another submission.
 */
const STAGING: Staging = {
  stage: STAGE,
  async make(tx, columns) {
    await tx.run(`DROP TEMPORARY TABLE IF EXISTS ${STAGE}`);
    await tx.run(`CREATE TEMPORARY TABLE ${STAGE} (${columns})`);
  },
  pack: (values) => values.map(valueLiteral).join(','),
  load,
  joined,
  matched,
  differs: (names) => `NOT (${names.map((name) => `t.${name} <=> s.${name}`).join(' AND ')})`,
  async store(tx, { to, names, at, isOther }) {
    const time = textLiteral(at);
    await tx.run(
      `UPDATE ${matched(to)} SET ${names.map((name) => `t.${name} = s.${name}`).join(', ')}, t._changed_at = ${time}, t._deleted_at = NULL
       WHERE ${isOther}`,
    );
    await tx.run(
      `INSERT INTO ${to} (id, ${names.join(', ')}, _first_seen_at, _changed_at)
       SELECT s.id, ${names.map((name) => `s.${name}`).join(', ')}, ${time}, ${time} FROM ${joined(to)} WHERE t.id IS NULL`,
    );
  },
  mayAlter: true,
  answers: (names) =>
    `json_object(${names.map((name) => `${textLiteral(name)}, t.${quoted(name)}`).join(', ')})`,
};

/** Bounds the memory here and at the server. Any max_allowed_packet has room for it. */
const MOST_BYTES = 1_000_000;

async function load(tx: Session, { into, names, rows, same }: Loading): Promise<void> {
  const end = same.map((value) => `,${textLiteral(value)}`).join('');
  let [tuples, bytes]: [string[], number] = [[], 0];
  const write = async (): Promise<void> => {
    if (tuples.length > 0)
      await tx.run(`INSERT INTO ${into} (${names.join(',')}) VALUES ${tuples.join(',')}`);
    [tuples, bytes] = [[], 0];
  };
  for (const row of rows) {
    const tuple = `(${row as string}${end})`;
    const size = Buffer.byteLength(tuple);
    if (bytes + size > MOST_BYTES) await write();
    tuples.push(tuple);
    bytes += size;
  }
  await write();
}

/** Collations that distinguish all texts: by case, accents and trailing spaces. */
export const EXACT = { MariaDB: 'utf8mb4_nopad_bin', MySQL: 'utf8mb4_0900_bin' } as const;
export type MysqlProduct = keyof typeof EXACT;

/** The dialect of MySQL and MariaDB. Times are DATETIME in UTC. */
export function mysqlDialect(product: MysqlProduct): Dialect {
  const collation = EXACT[product];
  const exact = `CHARACTER SET utf8mb4 COLLATE ${collation}`;
  const types = {
    // Holds every JavaScript number as people write it; a DECIMAL that is wide enough would show thirty zeros.
    number: 'double',
    text: `longtext ${exact}`,
    // MySQL's own type rounds numbers.
    json: `longtext ${exact}`,
    time: 'datetime(6)',
    integer: 'bigint',
    // Together they make the longest key: 3,072 bytes, at four bytes per character.
    key: `varchar(250) ${exact}`,
    id: `varchar(500) ${exact}`,
    word: `varchar(18) ${exact}`,
  } as const;
  return {
    product,
    version: 'version()',
    types,
    // A row must fit into half a page of 16 kB. Texts of up to 40 bytes are stored in it; longer ones leave a pointer of 20 bytes.
    maxColumns: 160,
    takesNul: true,

    timeParam: (time) => time && (time.replace('T', ' ').replace('Z', '') as typeof time),
    isoOf: (expression) => `DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%f')`,
    among: (expression, param) => `${expression} IN (${param})`,
    onConflict(key, taken) {
      // Not INSERT IGNORE, which cuts values that do not fit and reports success. An existing key gets the new row's values.
      const set = (taken.length === 0 ? key : taken).map((name) => `${name} = VALUES(${name})`);
      return `ON DUPLICATE KEY UPDATE ${set.join(', ')}`;
    },
    alone: (tx) => (tx as MysqlSession).alone(),

    columnsQuery:
      'SELECT table_name AS relation, column_name AS name FROM information_schema.columns WHERE table_schema = database() AND table_name IN ($1) ORDER BY ordinal_position',
    relationsQuery: `SELECT table_name AS name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS kind
      FROM information_schema.tables WHERE table_schema = database()`,

    exact: () => undefined,
    staging: STAGING,
    views: mysqlViews(collation),
    // The index has everything that counting needs. Reading the rows would take ten times as long.
    formTable: (table, columns) => [
      `CREATE TABLE ${quoted(table)} (${columns}, INDEX _mirror_live (created_at, status, _deleted_at))`,
    ],
    putView,
    describe: describeMysqlError,
  };
}

/** Keeps rights on the view, and with whose rights it reads. */
async function putView(tx: Session, name: string, select: string): Promise<void> {
  const [before] = await tx.query(
    'SELECT security_type AS security FROM information_schema.views WHERE table_schema = database() AND table_name = $1',
    [name],
  );
  const security = textOf(before?.['security'] ?? 'DEFINER');
  await tx.run(`CREATE OR REPLACE SQL SECURITY ${security} VIEW ${quoted(name)} AS ${select}`);
}
