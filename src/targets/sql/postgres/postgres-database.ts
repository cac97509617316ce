import { type Clock, systemClock } from '../../../base/clock.ts';
import { withinTime } from '../../../base/deadline.ts';
import type { HistoryKind } from '../../../mirror/histories.ts';
import type { CheckResult, Target, WriterOptions } from '../../../mirror/target.ts';
import type { SqlDialect } from '../dialect.ts';
import { type FormLock, waitForLock } from '../form-lock.ts';
import { beginSnapshot, type SqlSnapshot } from '../form-snapshot.ts';
import type { SqlPlaceName } from '../relations.ts';
import { booleanOf, type SqlSession } from '../sql-session.ts';
import { type SqlDatabase, SqlTarget } from '../sql-target.ts';
import type { PostgresAddress } from './postgres-address.ts';
import { checkPostgres } from './postgres-check.ts';
import {
  DEFAULT_TIMEOUTS,
  PostgresConnection,
  type PostgresTimeouts,
  readingSession,
} from './postgres-connection.ts';
import { postgresDialect } from './postgres-dialect.ts';
import {
  type PostgresDriver,
  type PostgresQuery,
  type PostgresResult,
  postgresDriver,
} from './postgres-driver.ts';
import { isConnectionLost } from './postgres-errors.ts';
import { lockKey } from './postgres-names.ts';

/**
 * A target in a schema of a PostgreSQL database; the first write makes the schema when it is missing. Connects at first
 * use.
 */
export function openPostgres(
  name: string,
  address: PostgresAddress,
  clock: Clock = systemClock,
  history?: HistoryKind,
): Target {
  const driver = postgresDriver(address.connectionString);
  return new SqlTarget(name, new PostgresDatabase(address, driver, clock), clock, history);
}

/** A schema of a PostgreSQL database: a connection for each writer, which also holds its lock, and a pool for reading. */
export class PostgresDatabase implements SqlDatabase {
  readonly kind = 'postgres';
  readonly address: string;
  readonly dialect: SqlDialect;
  readonly placeName: SqlPlaceName;
  readonly #driver: PostgresDriver;
  readonly #schema: string;
  readonly #clock: Clock;
  readonly #timeouts: PostgresTimeouts;
  readonly #session: SqlSession;
  #closing: Promise<unknown> | undefined;

  constructor(
    address: PostgresAddress,
    driver: PostgresDriver,
    clock: Clock,
    timeouts: PostgresTimeouts = DEFAULT_TIMEOUTS,
  ) {
    this.address = address.shown;
    this.dialect = postgresDialect(address.schema);
    this.placeName = { database: address.database, schema: address.schema };
    this.#driver = driver;
    this.#schema = address.schema;
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#session = readingSession((query) => this.#read(query), timeouts);
  }

  async reading(): Promise<SqlSession> {
    return this.#session;
  }

  /** However long its reader takes: the server would end a transaction that it thinks idle. */
  async snapshot(): Promise<SqlSnapshot> {
    return beginSnapshot(await this.#open(), [
      'SET idle_in_transaction_session_timeout = 0',
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    ]);
  }

  /** The lock belongs to the session: when the connection ends, however it ends, the server releases it. */
  async lockForm(name: string, options: WriterOptions): Promise<FormLock | undefined> {
    const connection = await this.#open();
    const key = lockKey(this.#schema, 'form', name);
    const lock: FormLock = {
      connection,
      release: () => connection.close(),
    };
    const tryLock = async (): Promise<FormLock | undefined> => {
      const [row] = await connection.query('SELECT pg_try_advisory_lock($1::bigint) AS locked', [
        key,
      ]);
      return row !== undefined && booleanOf(row, 'locked') ? lock : undefined;
    };
    try {
      const taken = await waitForLock(tryLock, options, this.#clock);
      if (taken === undefined) await connection.close();
      return taken;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  check(signal: AbortSignal | undefined): Promise<CheckResult[]> {
    return checkPostgres(() => this.#open(), this.dialect, signal);
  }

  async close(): Promise<void> {
    // A reader that waits for a lock would keep it open for as long.
    this.#closing ??= withinTime(this.#driver.pool.end(), this.#timeouts.closeMs, systemClock);
    await this.#closing;
  }

  #open(): Promise<PostgresConnection> {
    return PostgresConnection.open(this.#driver.client(), this.#timeouts);
  }

  /** An idle connection may have been lost unnoticed; then a new one is tried, once. */
  async #read(query: PostgresQuery): Promise<PostgresResult> {
    try {
      return await this.#driver.pool.query(query);
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      return this.#driver.pool.query(query);
    }
  }
}
