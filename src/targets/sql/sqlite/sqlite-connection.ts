import { statSync } from 'node:fs';
import type { Clock } from '../../../base/clock.ts';
import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import { type AnyEngine, SqliteEngine } from './sqlite-engine.ts';
import { SqliteEngineThread } from './sqlite-engine-thread.ts';
import { busyError, isBusy } from './sqlite-errors.ts';
import type { FlatRows, StorePlan } from './sqlite-store.ts';

/** How long a statement waits for another process that holds the file, and between two tries. */
const BUSY_TIMEOUT_MS = 60_000;
const BUSY_PAUSE_MS = 10;

/**
 * What makes a file safe to write. WAL lets people read while we write; FULL makes a commit outlast a power failure, not
 * only the end of this process, because what is stored here may be marked as done at the source (L7). What is overwritten
 * or deleted is overwritten with zeros (L18); {@link SqliteConnection.scrub} sees to what the WAL still holds.
 */
const SYNCED = 'PRAGMA synchronous = FULL';
const UNSYNCED = 'PRAGMA synchronous = NORMAL';
const SAFE = `PRAGMA journal_mode = WAL; ${SYNCED}; PRAGMA secure_delete = ON`;

/**
 * IDs come in any order, so that each batch touches pages all over the indexes. SQLite's own cache of 2 MB (the size is in
 * KiB) does not keep them, and its checkpoint every 4 MB writes the same ones again and again. Of pages of 4 kB, rows of 1 kB
 * waste a quarter; a file that exists keeps the pages that it has.
 */
const QUICK = 'PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 2000';
const SETTINGS = `PRAGMA page_size = 8192; ${SAFE}; ${QUICK}`;

/** Tells a file from another one at the same path; undefined when there is none. */
export function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Tells the files of a database in WAL from others at the same places; undefined when one is missing. */
function filesOf(path: string): string | undefined {
  const files = [path, `${path}-wal`, `${path}-shm`].map(identityOf);
  return files.includes(undefined) ? undefined : files.join(' ');
}

/** What a thread may be opened for. */
interface Threadable {
  readonly path: string;
  /** The file that is open, which may have been replaced by another one at the same path. */
  readonly file: string | undefined;
  /** From how many rows on; see {@link THREAD_FROM_ROWS}. */
  readonly fromRows: number;
  /** The thread, once it has been begun. */
  begun?: BegunThread;
}

/** A thread that is beginning. It has read nothing. */
interface BegunThread {
  readonly thread: SqliteEngineThread;
  /** Whether it can be told something, once that is known. */
  readonly ready: Promise<boolean>;
  isSettled: boolean;
}

/**
 * A connection that has stored as many rows begins a thread of its own, and goes on in it once it is there, so that a long
 * pass reads and writes at the same time: what is stored takes longer than it takes to send it there. A thread takes as long
 * to begin as some 4,000 rows do; after twice as many rows it is waited for.
 */
export const THREAD_FROM_ROWS = 4_000;
const WAITED_FOR = 2;

/**
 * A connection to a SQLite file. SQLite itself never waits, which would block the whole process: a locked file is tried
 * again after a pause. A transaction has no such pauses between its statements, so that no two connections of this process
 * can wait for each other.
 */
export class SqliteConnection implements SqlConnection {
  #engine: AnyEngine;
  readonly #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();
  #threadable: Threadable | undefined;
  #stored = 0;
  /** What is open; see {@link filesOf}. */
  #files: string | undefined;
  #hasFailed = false;

  private constructor(engine: SqliteEngine, clock: Clock, threadable?: Threadable) {
    this.#engine = engine;
    this.#clock = clock;
    this.#threadable = threadable;
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
  static async forWriting(
    path: string,
    clock: Clock,
    fromRows = THREAD_FROM_ROWS,
  ): Promise<SqliteConnection> {
    const engine = new SqliteEngine(path, 'write');
    const connection = new SqliteConnection(engine, clock, {
      path,
      file: identityOf(path),
      fromRows,
    });
    try {
      // The first read opens the WAL.
      await connection.exec(`${SETTINGS}; PRAGMA schema_version`);
      connection.#files = filesOf(path);
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
    return this.#retryInTurn(() => this.#engine.all(sql, params, false)) as Promise<SqlRow[]>;
  }

  queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    return this.#retryInTurn(() => this.#engine.all(sql, params, true)) as Promise<unknown[][]>;
  }

  exec(sql: string): Promise<void> {
    return this.#retryInTurn(() => this.#engine.exec(sql));
  }

  async transaction<T>(work: (tx: SqlSession) => Promise<T>, order?: 'first'): Promise<T> {
    return this.#inTurn(async () => {
      await this.#followRows();
      const engine = this.#engine;
      // The WAL is in order: where a later commit is on the disk, so is this one.
      if (order === 'first') await engine.exec(UNSYNCED);
      try {
        await this.#retry(() => engine.exec('BEGIN IMMEDIATE'));
        const transaction = new SqliteTransaction(engine);
        const result = await work(transaction);
        await this.#retry(() => engine.exec('COMMIT'));
        this.#stored += transaction.stored;
        return result;
      } catch (error) {
        this.#hasFailed = true;
        await engine.rollBack();
        throw error;
      } finally {
        if (order === 'first') await engine.exec(SYNCED);
      }
    });
  }

  /** Between two transactions, goes on in a thread where there is much to store. */
  async #followRows(): Promise<void> {
    const threadable = this.#threadable;
    if (threadable === undefined || this.#stored < threadable.fromRows) return;
    const begun = threadable.begun ?? beginThread(threadable);
    if (begun?.isSettled === false && this.#stored < threadable.fromRows * WAITED_FOR) {
      threadable.begun = begun;
      return;
    }
    this.#threadable = undefined;
    if (begun === undefined) return;
    const isReady = await this.#makeReady(begun, threadable).catch(() => false);
    if (!isReady) {
      // Without a thread it is slower, and what is wrong with the file is told by the next statement.
      await begun.thread.abandon();
      return;
    }
    await this.#engine.close();
    this.#engine = begun.thread;
  }

  /**
   * False where another file came to the path while the thread began: the pass has written to the one before. It is asked
   * before the thread reads anything, as whoever reads a file takes the WAL beside it for its own.
   */
  async #makeReady({ thread, ready }: BegunThread, { path, file }: Threadable): Promise<boolean> {
    if (!(await ready) || identityOf(path) !== file) return false;
    await this.#retry(() => thread.exec(SETTINGS));
    return true;
  }

  /**
   * Takes what was deleted out of the files: writes the database anew and empties the WAL. Throws SQLite's `busy` where
   * another program reads from the WAL for longer than a minute.
   */
  async scrub(): Promise<void> {
    await this.exec('VACUUM');
    await this.#retryInTurn(async () => {
      const rows = await this.#engine.all('PRAGMA wal_checkpoint(TRUNCATE)', [], false);
      const [row] = rows as SqlRow[];
      if (Number(row?.['busy']) !== 0) throw busyError();
    });
  }

  /**
   * Brings into the file itself what the WAL holds, as far as no reader needs what stood there before, so that a copy of the
   * file alone is whole. Waits for nobody, and never fails: what is left stays in the WAL until the next time.
   */
  async fold(): Promise<void> {
    const fold = (): unknown => this.#engine.all('PRAGMA wal_checkpoint(TRUNCATE)', [], false);
    await this.#inTurn(async () => fold()).catch(() => {});
  }

  /**
   * Waits for what is under way. True when another writer may go on with this connection: its files are those at the path, it
   * has stored little enough to be in this thread still, and nothing on it failed.
   */
  async isReusable(): Promise<boolean> {
    await this.#turn.catch(() => {});
    const { path, begun } = this.#threadable ?? {};
    if (path === undefined || this.#files === undefined || this.#hasFailed) return false;
    if (begun !== undefined) return false;
    this.#stored = 0;
    return filesOf(path) === this.#files;
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    await this.#threadable?.begun?.thread.abandon();
    await this.#engine.close();
  }

  #retryInTurn<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#retry(work));
  }

  async #retry<T>(work: () => T | Promise<T>): Promise<T> {
    const deadline = this.#clock.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || this.#clock.now() >= deadline) {
          this.#hasFailed = true;
          throw error;
        }
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

/** Undefined where the file at the path is another one by now. */
function beginThread({ path, file }: Threadable): BegunThread | undefined {
  if (identityOf(path) !== file) return undefined;
  const thread = new SqliteEngineThread(path);
  const ready = thread.exec('').then(
    () => true,
    () => false,
  );
  const begun: BegunThread = { thread, ready, isSettled: false };
  void ready.then(() => (begun.isSettled = true));
  return begun;
}

/** The statements of a transaction: its lock is held, so that none is tried again. */
export class SqliteTransaction implements SqlSession {
  readonly #engine: AnyEngine;
  /** How many rows were given to {@link store}. */
  stored = 0;

  constructor(engine: AnyEngine) {
    this.#engine = engine;
  }

  async query(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return (await this.#engine.all(sql, params, false)) as SqlRow[];
  }

  async queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    return (await this.#engine.all(sql, params, true)) as unknown[][];
  }

  async exec(sql: string): Promise<void> {
    await this.#engine.exec(sql);
  }

  send(sql: string, params: readonly SqlValue[] = []): void {
    this.#engine.send(sql, params);
  }

  /** See {@link AnyEngine.store}. */
  async store(plan: StorePlan, rows: FlatRows): Promise<Uint8Array> {
    this.stored += rows.ids.length;
    return this.#engine.store(plan, rows);
  }
}
