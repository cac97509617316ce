import { type Clock, systemClock } from '../../../base/clock.ts';
import { withinTime } from '../../../base/deadline.ts';
import type { HistoryKind } from '../../../mirror/histories.ts';
import type { CheckResult, Target, WriterOptions } from '../../../mirror/target.ts';
import type { SqlDialect } from '../dialect.ts';
import { type FormLock, waitForLock } from '../form-lock.ts';
import { beginSnapshot, type SqlSnapshot } from '../form-snapshot.ts';
import type { SqlPlaceName } from '../relations.ts';
import type { SqlSession } from '../sql-session.ts';
import { type SqlDatabase, SqlTarget } from '../sql-target.ts';
import { type MysqlAddress, tlsOptions } from './mysql-address.ts';
import { checkMysql } from './mysql-check.ts';
import { MysqlConnection, serverOf, settingsFor } from './mysql-connection.ts';
import { mysqlDialect } from './mysql-dialect.ts';
import { type MysqlAnswer, type MysqlDriver, mysqlDriver, type MysqlPool } from './mysql-driver.ts';
import { isConnectionLost } from './mysql-errors.ts';
import { keepLease, lockName } from './mysql-locks.ts';
import { DEFAULT_TIMEOUTS, MysqlSession, type MysqlTimeouts } from './mysql-session.ts';

/** A target in a database of MySQL or MariaDB, which must be there. Connects at first use. */
export function openMysql(
  name: string,
  address: MysqlAddress,
  clock: Clock = systemClock,
  history?: HistoryKind,
): Target {
  const driver = mysqlDriver({ ...address.connection, ...tlsOptions(address) });
  return new SqlTarget(name, new MysqlDatabase(address, driver, clock), clock, history);
}

/** A database of a server: a connection for each writer, which also holds its lock, and a pool for reading. */
export class MysqlDatabase implements SqlDatabase {
  readonly kind = 'mysql';
  readonly address: string;
  readonly dialect: SqlDialect;
  readonly placeName: SqlPlaceName;
  readonly #driver: MysqlDriver;
  readonly #clock: Clock;
  readonly #timeouts: MysqlTimeouts;
  #reading: Promise<Reading> | undefined;

  constructor(
    address: MysqlAddress,
    driver: MysqlDriver,
    clock: Clock,
    timeouts: MysqlTimeouts = DEFAULT_TIMEOUTS,
  ) {
    this.address = address.shown;
    this.dialect = mysqlDialect(address.database);
    this.placeName = { database: address.database, schema: address.database };
    this.#driver = driver;
    this.#clock = clock;
    this.#timeouts = timeouts;
  }

  async reading(): Promise<SqlSession> {
    this.#reading ??= this.#startReading();
    try {
      return (await this.#reading).session;
    } catch (error) {
      this.#reading = undefined;
      throw error;
    }
  }

  /** However long its reader takes between two pieces. */
  async snapshot(): Promise<SqlSnapshot> {
    return beginSnapshot(await this.#open(), [
      'SET SESSION wait_timeout = 2147483',
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ]);
  }

  /** The lock belongs to the session: when the connection ends, however it ends, the server releases it. */
  async lockForm(name: string, options: WriterOptions): Promise<FormLock | undefined> {
    const connection = await this.#open();
    const key = lockName(this.placeName.schema, 'form', name);
    let endLease = (): void => {};
    const lock: FormLock = {
      connection,
      release: async () => {
        endLease();
        // A connection that is closed keeps the lock until the server comes to it.
        await connection.query('SELECT RELEASE_LOCK($1)', [key]).catch(() => {});
        await connection.close();
      },
    };
    const tryLock = async (): Promise<FormLock | undefined> => {
      const [row] = await connection.query('SELECT GET_LOCK($1, 0) AS locked', [key]);
      return row?.['locked'] === '1' ? lock : undefined;
    };
    try {
      const taken = await waitForLock(tryLock, options, this.#clock);
      if (taken === undefined) await connection.close();
      else endLease = await keepLease(connection, this.#timeouts.leaseMs);
      return taken;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  check(signal: AbortSignal | undefined): Promise<CheckResult[]> {
    return checkMysql(() => this.#open(), this.dialect, signal);
  }

  async close(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    // A reader that waits for a lock would keep it open for as long.
    const ended = reading?.then(({ pool }) => pool.end()).catch(() => undefined);
    await withinTime(ended ?? Promise.resolve(), this.#timeouts.closeMs, systemClock);
  }

  #open(): Promise<MysqlConnection> {
    return MysqlConnection.open(() => this.#driver.connect(), this.#timeouts);
  }

  /** What the server is has to be known before the first statement, so that its connections are set up for it. */
  async #startReading(): Promise<Reading> {
    const client = await this.#driver.connect();
    try {
      const server = await serverOf((sql, ms) => client.ask(sql, ms), this.#timeouts.answerMs);
      const pool = this.#driver.pool(settingsFor(server));
      const ask = (sql: string, ms: number): Promise<readonly MysqlAnswer[]> => read(pool, sql, ms);
      return { pool, session: new MysqlSession(ask, server, this.#timeouts) };
    } finally {
      await client.end().catch(() => {});
      client.destroy();
    }
  }
}

interface Reading {
  readonly pool: MysqlPool;
  readonly session: SqlSession;
}

/** An idle connection may have been lost unnoticed; then a new one is tried, once. */
async function read(pool: MysqlPool, sql: string, ms: number): Promise<readonly MysqlAnswer[]> {
  try {
    return await pool.ask(sql, ms);
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    return pool.ask(sql, ms);
  }
}
