import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../../base/clock.ts';
import { decimalText } from '../../../mirror/numbers.ts';
import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import { busyError, isBusy } from './sqlite-errors.ts';

/** How long a statement waits for another process that holds the file, and between two tries. */
const BUSY_TIMEOUT_MS = 60_000;
const BUSY_PAUSE_MS = 10;
/** Statements kept compiled; a pass uses some two dozen. */
const KEPT_STATEMENTS = 200;

/**
 * A connection to a SQLite file. SQLite itself never waits, which would block the whole process: a locked file is tried
 * again after a pause. A transaction has no such pauses between its statements, so that no two connections of this process
 * can wait for each other.
 */
export class SqliteConnection implements SqlConnection {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements = new Map<string, StatementSync>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(database: DatabaseSync, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Opens an existing file read-only. */
  static forReading(path: string, clock: Clock): SqliteConnection {
    // SQLite opens a folder, and fails to read it as it fails on a bad disk.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    }
    return new SqliteConnection(new DatabaseSync(path, { timeout: 0, readOnly: true }), clock);
  }

  /**
   * Opens a file, making it when it is missing. WAL lets people read while we write; FULL makes a commit outlast a power
   * failure, not only the end of this process, because what is stored here may be marked as done at the source (L7).
   * What is overwritten or deleted is overwritten with zeros (L18); {@link scrub} sees to what the WAL still holds.
   */
  static async forWriting(path: string, clock: Clock): Promise<SqliteConnection> {
    const connection = SqliteConnection.#writable(path, clock);
    try {
      await connection.exec(
        'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON',
      );
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Opens an existing file for writing and changes none of its settings. */
  static forTrying(path: string, clock: Clock): SqliteConnection {
    return SqliteConnection.#writable(path, clock);
  }

  /** Opens a database that is gone when the connection closes. */
  static inMemory(clock: Clock): SqliteConnection {
    return SqliteConnection.#writable(':memory:', clock);
  }

  static #writable(path: string, clock: Clock): SqliteConnection {
    const database = new DatabaseSync(path, { timeout: 0 });
    database.function('decimal_text', { useBigIntArguments: true, deterministic: true }, toText);
    return new SqliteConnection(database, clock);
  }

  query(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#retryInTurn(() => this.#all(sql, params, false) as SqlRow[]);
  }

  queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    return this.#retryInTurn(() => this.#all(sql, params, true) as unknown[][]);
  }

  exec(sql: string): Promise<void> {
    return this.#retryInTurn(() => this.#database.exec(sql));
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#retry(() => this.#database.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(this.#session());
        await this.#retry(() => this.#database.exec('COMMIT'));
        return result;
      } catch (error) {
        // Some errors (disk full, for one) have rolled back already.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /**
   * Takes what was deleted out of the files: writes the database anew and empties the WAL. Throws SQLite's `busy` where
   * another program reads from the WAL for longer than a minute.
   */
  async scrub(): Promise<void> {
    await this.exec('VACUUM');
    await this.#retryInTurn(() => {
      const [row] = this.#all('PRAGMA wal_checkpoint(TRUNCATE)', [], false) as SqlRow[];
      if (Number(row?.['busy']) !== 0) throw busyError();
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /** For the statements of a transaction: its lock is held, so that none is retried. */
  #session(): SqlSession {
    return {
      query: async (sql, params = []) => this.#all(sql, params, false) as SqlRow[],
      queryArrays: async (sql, params = []) => this.#all(sql, params, true) as unknown[][],
      exec: async (sql) => this.#database.exec(sql),
    };
  }

  #all(sql: string, params: readonly SqlValue[], asArrays: boolean): unknown[] {
    const statement = this.#statement(sql);
    statement.setReturnArrays(asArrays);
    return statement.all(...params.map(toBound));
  }

  #statement(sql: string): StatementSync {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(sql.replace(/\$(\d+)/g, '?$1'));
    statement.setReadBigInts(true);
    if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }

  #retryInTurn<T>(work: () => T): Promise<T> {
    return this.#inTurn(() => this.#retry(work));
  }

  async #retry<T>(work: () => T): Promise<T> {
    const deadline = this.#clock.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || this.#clock.now() >= deadline) throw error;
        await this.#clock.sleep(BUSY_PAUSE_MS);
      }
    }
  }

  /** Runs everything on this connection one after the other: a read must not see half a transaction. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.catch(() => {}).then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function toBound(value: SqlValue): string | number | bigint | null {
  if (value === null || typeof value !== 'object') return value;
  throw new TypeError('SQLite takes no lists');
}

/** SQL function `decimal_text`: a number's canonical decimal, where SQLite's own text would round to 15 digits. */
function toText(value: unknown): string | null {
  if (typeof value === 'bigint') return value.toString();
  return typeof value === 'number' ? decimalText(value) : null;
}
