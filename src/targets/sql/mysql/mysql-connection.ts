import {
  type ConnectionOptions,
  createConnection,
  type Connection as MysqlConnection,
  type TypeCast,
} from 'mysql2';
import { systemClock, withinTime } from '../../../base/clock.ts';
import { type Connection, type Driver, GOODBYE_MS, lockName, lockSession } from '../database.ts';
import { isTrue, type Param, type SqlRow } from '../dialect.ts';
import { EXACT, mysqlDialect, type MysqlProduct } from './mysql-dialect.ts';
import { serverErrno } from './mysql-errors.ts';
import { withValues } from './mysql-literal.ts';

const CONNECT_LIMIT_MS = 15_000;
/** Only this notices a network that silently drops packets. */
const ANSWER_LIMIT_MS = 600_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * After this long without a statement, the server ends a session and releases its locks; the next statement opens another. Not a
 * whole number of minutes, because polls would then meet the end.
 */
const SILENCE_LIMIT_S = 400;
const LOCK_LIMIT_S = 30;
/** How long a change of a table or view waits for people's open transactions; after that, the next run tries again. */
const CHANGE_LIMIT_S = 5;

/** Quotes work as in other databases, and the server refuses values that do not fit instead of changing them. */
const MODES = [
  'ANSI_QUOTES',
  'PIPES_AS_CONCAT',
  'NO_BACKSLASH_ESCAPES',
  'STRICT_ALL_TABLES',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
];

const settings = (product: MysqlProduct): string[] => [
  `SET NAMES utf8mb4 COLLATE ${EXACT[product]}`,
  `SET SESSION sql_mode = '${MODES.join(',')}', time_zone = '+00:00', autocommit = 1, wait_timeout = ${SILENCE_LIMIT_S},
   lock_wait_timeout = ${CHANGE_LIMIT_S}, innodb_lock_wait_timeout = ${LOCK_LIMIT_S}, sql_safe_updates = 0,
   sql_select_limit = 18446744073709551615`,
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  // A table to which people gave system versioning can take new columns; a long list of IDs is looked up by key.
  ...(product === 'MariaDB'
    ? ['SET SESSION system_versioning_alter_history = KEEP, in_predicate_conversion_threshold = 0']
    : []),
];

/** A database of MySQL or MariaDB, which an administrator creates. */
export const mysqlDriver = (options: ConnectionOptions): Driver => ({
  // Only the server says which one it is.
  dialect: mysqlDialect('MySQL'),
  connect: () => MysqlSession.open(options),
});

/** A session of a server. Reads values as the texts that the server writes, so that numbers keep all their digits. */
export class MysqlSession implements Connection {
  dialect = mysqlDialect('MySQL');
  readonly #connection: MysqlConnection;
  readonly #database: string;
  readonly #locks = new Set<string>();
  #isAlone = false;
  #isLost = false;

  private constructor(options: ConnectionOptions) {
    this.#database = options.database ?? '';
    this.#connection = createConnection({
      ...options,
      charset: 'utf8mb4',
      connectTimeout: CONNECT_LIMIT_MS,
      enableKeepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
      // Otherwise the driver compiles and keeps a reader for each kind of result.
      disableEval: true,
      // Otherwise the driver looks for placeholders in each statement, which takes longer than building the statement.
      queryFormat: (sql) => sql,
      // Affected rows are those that changed, and no server may request local files.
      flags: ['-FOUND_ROWS', '-LOCAL_FILES'],
    });
    const lose = (): void => void (this.#isLost = true);
    this.#connection.on('error', lose);
    this.#connection.on('end', lose);
  }

  static async open(options: ConnectionOptions): Promise<MysqlSession> {
    const session = new MysqlSession(options);
    try {
      await new Promise<void>((done, failed) =>
        session.#connection.connect((error) => (error === null ? done() : failed(error))),
      );
      const [row] = await session.query('SELECT VERSION() AS v');
      const product = /mariadb/i.test(String(row?.['v'])) ? 'MariaDB' : 'MySQL';
      for (const each of settings(product)) await session.run(each);
      session.dialect = mysqlDialect(product);
      return session;
    } catch (error) {
      session.#connection.destroy();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    const rows = await this.#ask(sql, params);
    return Array.isArray(rows) ? (rows as SqlRow[]) : [];
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return ((await this.#ask(sql, params)) as { affectedRows: number }).affectedRows;
  }

  /** Without `autocommit`, a statement that commits by itself, such as CREATE TABLE, is followed by the next transaction. */
  async begin(): Promise<void> {
    await this.run('SET autocommit = 0');
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await this.run(how);
    const rest = ['SET autocommit = 1'];
    if (this.#isAlone) rest.push(`DO RELEASE_LOCK('${this.#aloneLock}')`);
    this.#isAlone = false;
    // The commit holds even if the connection is lost now.
    for (const each of rest) await this.run(each).catch(() => {});
  }

  async freeze(): Promise<void> {
    await this.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await this.run('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  }

  lock(name: string): Promise<(() => Promise<void>) | null> {
    return lockSession(this, this.#locks, lockName(this.#database, `form ${name}`), {
      take: 'GET_LOCK($1, 0)',
      give: 'RELEASE_LOCK($1)',
    });
  }

  /** See `Dialect.alone`. */
  async alone(): Promise<void> {
    if (this.#isAlone) return;
    const [row] = await this.query(
      `SELECT GET_LOCK('${this.#aloneLock}', ${LOCK_LIMIT_S}) AS mine`,
    );
    if (!isTrue(row?.['mine'])) throw Object.assign(new Error(), LOCK_WAIT_TIMEOUT);
    this.#isAlone = true;
  }

  get #aloneLock(): string {
    return lockName(this.#database, 'tables');
  }

  /** Says goodbye. */
  async close(): Promise<void> {
    if (this.#isLost) return;
    const ended = new Promise<void>((done) => this.#connection.end(() => done()));
    await withinTime(ended, GOODBYE_MS, systemClock);
    this.#connection.destroy();
  }

  async #ask(sql: string, params: readonly Param[]): Promise<unknown> {
    const statement = { sql: withValues(sql, params), typeCast, timeout: ANSWER_LIMIT_MS };
    try {
      return await new Promise((done, fail) =>
        this.#connection.query(statement, (error, result) =>
          error === null ? done(result) : fail(error),
        ),
      );
    } catch (error) {
      // The driver reports a loss to the statement or to the connection.
      if (serverErrno(error) === undefined) {
        this.#isLost = true;
        this.#connection.destroy();
      }
      throw error;
    }
  }
}

/** The error for waiting too long for a lock. */
const LOCK_WAIT_TIMEOUT = { errno: 1205, sqlState: 'HY000' };

/** The text that the server writes, or for a double its number. */
const typeCast: TypeCast = (field) => {
  const text = field.string();
  return field.type === 'DOUBLE' && text !== null ? Number(text) : text;
};
