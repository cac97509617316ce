import { statSync } from 'node:fs';
import type { Clock } from '../../../base/clock.ts';
import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import { SqliteEngine } from './sqlite-engine.ts';
import { busyError, isBusy } from './sqlite-errors.ts';
import { type FlatRows, storeFlatRows, type StorePlan } from './sqlite-store.ts';

/** How long a statement waits for another process that holds the file, and between two tries. */
const BUSY_TIMEOUT_MS = 60_000;
const BUSY_PAUSE_MS = 10;

/**
 * What makes a file safe to write. WAL lets people read while we write; FULL makes a commit outlast a power failure, not
 * only the end of this process, because what is stored here may be marked as done at the source (L7). What is overwritten
 * or deleted is overwritten with zeros (L18); {@link SqliteConnection.scrub} sees to what the WAL still holds.
 */
const SAFE = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON';

/**
 * IDs come in any order, so that each batch touches pages all over the indexes. Of SQLite's own 2 MB they are read again and
 * again, and its checkpoint every 1,000 pages writes the same ones again and again. KiB; pages.
 */
const QUICK = 'PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000';

/**
 * A connection to a SQLite file. SQLite itself never waits, which would block the whole process: a locked file is tried
 * again after a pause. A transaction has no such pauses between its statements, so that no two connections of this process
 * can wait for each other.
 */
export class SqliteConnection implements SqlConnection {
  readonly #engine: SqliteEngine;
  readonly #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(engine: SqliteEngine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Opens an existing file read-only. */
  static forReading(path: string, clock: Clock): SqliteConnection {
    // SQLite opens a folder, and fails to read it as it fails on a bad disk.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    }
    return new SqliteConnection(new SqliteEngine(path, 'read'), clock);
  }

  /** Opens a file, making it when it is missing. */
  static async forWriting(path: string, clock: Clock): Promise<SqliteConnection> {
    const connection = new SqliteConnection(new SqliteEngine(path, 'write'), clock);
    try {
      await connection.exec(`${SAFE}; ${QUICK}`);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Opens an existing file for writing and changes none of its settings. */
  static forTrying(path: string, clock: Clock): SqliteConnection {
    return new SqliteConnection(new SqliteEngine(path, 'write'), clock);
  }

  /** Opens a database that is gone when the connection closes. */
  static inMemory(clock: Clock): SqliteConnection {
    return new SqliteConnection(new SqliteEngine(':memory:', 'write'), clock);
  }

  query(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#retryInTurn(() => this.#engine.all(sql, params, false) as SqlRow[]);
  }

  queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    return this.#retryInTurn(() => this.#engine.all(sql, params, true) as unknown[][]);
  }

  exec(sql: string): Promise<void> {
    return this.#retryInTurn(() => this.#engine.exec(sql));
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#retry(() => this.#engine.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(new SqliteTransaction(this.#engine));
        await this.#retry(() => this.#engine.exec('COMMIT'));
        return result;
      } catch (error) {
        // Some errors (disk full, for one) have rolled back already.
        if (this.#engine.inTransaction) this.#engine.exec('ROLLBACK');
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
      const [row] = this.#engine.all('PRAGMA wal_checkpoint(TRUNCATE)', [], false) as SqlRow[];
      if (Number(row?.['busy']) !== 0) throw busyError();
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    this.#engine.close();
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

/** The statements of a transaction: its lock is held, so that none is tried again. */
export class SqliteTransaction implements SqlSession {
  readonly #engine: SqliteEngine;

  constructor(engine: SqliteEngine) {
    this.#engine = engine;
  }

  async query(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#engine.all(sql, params, false) as SqlRow[];
  }

  async queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    return this.#engine.all(sql, params, true) as unknown[][];
  }

  async exec(sql: string): Promise<void> {
    this.#engine.exec(sql);
  }

  /** See {@link storeFlatRows}. */
  async store(plan: StorePlan, rows: FlatRows): Promise<Uint8Array> {
    return storeFlatRows(this.#engine, plan, rows);
  }
}
