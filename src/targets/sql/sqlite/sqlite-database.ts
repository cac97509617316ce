import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { makeFolder } from '../../../base/folder.ts';
import { createPrivate } from '../../../base/private-files.ts';
import type { HistoryKind } from '../../../mirror/histories.ts';
import type { CheckResult, Target, WriterOptions } from '../../../mirror/target.ts';
import { type FormLock, waitForLock } from '../form-lock.ts';
import type { SqlSnapshot } from '../form-snapshot.ts';
import type { SqlConnection, SqlSession } from '../sql-session.ts';
import { type SqlDatabase, SqlTarget } from '../sql-target.ts';
import { checkSqlite } from './sqlite-check.ts';
import { identityOf, SqliteConnection, THREAD_FROM_ROWS } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { SqliteEngine } from './sqlite-engine.ts';
import { isBusy } from './sqlite-errors.ts';
import { followRights, followWriters } from './sqlite-rights.ts';

/**
 * A target in a SQLite file, or in memory for the path `:memory:`. The file and its folders are made by the first
 * write, for their owner alone; the rights of a file that exists are respected, and what stands beside it follows them.
 */
export function openSqlite(
  name: string,
  path: string,
  clock: Clock = systemClock,
  history?: HistoryKind,
): Target {
  const database = path === ':memory:' ? new SqliteMemory(clock) : new SqliteFile(path, clock);
  return new SqlTarget(name, database, clock, history);
}

/** A file is the only database of its connection. */
const PLACE_NAME = { database: null, schema: 'main' };

/** How many connections of writers are kept: as many as write at the same time unless somebody asks for more. */
const MOST_IDLE = 4;

/** Bytes in the WAL from which on a writer that ends brings it into the file though others are at work. */
const LARGE_WAL = 8 * 1_048_576;

/** A connection that waits for the next writer. */
interface Idle {
  readonly connection: SqliteConnection;
  /** See {@link changeOf}. */
  readonly changed: bigint;
}

/** A SQLite file: a connection for each writer, some of them kept for those that come, and one for all reading. */
export class SqliteFile implements SqlDatabase {
  readonly kind = 'sqlite';
  readonly dialect = sqliteDialect;
  readonly placeName = PLACE_NAME;
  readonly address: string;
  readonly #path: string;
  readonly #clock: Clock;
  #reading: { readonly file: string; readonly connection: SqliteConnection } | undefined;
  /** Of writers that have ended: a new connection would read the schema of all forms, and compile every statement again. */
  #idle: readonly Idle[] = [];
  /** Writers that are at work. */
  #open = 0;
  #isClosed = false;

  readonly #threadFromRows: number;

  /** `threadFromRows`: how much a writer stores before it goes on in a thread of its own. */
  constructor(path: string, clock: Clock, threadFromRows = THREAD_FROM_ROWS) {
    this.address = `sqlite:${path}`;
    this.#path = resolve(path);
    this.#clock = clock;
    this.#threadFromRows = threadFromRows;
  }

  /** Opens the file read-only: a file of another program stays as it is, and a missing one is not created. */
  async reading(): Promise<SqlSession | undefined> {
    const file = identityOf(this.#path);
    // After the file was deleted or replaced, nothing may be read from the old one, which is still open.
    if (this.#reading !== undefined && this.#reading.file !== file) await this.close();
    if (file === undefined) return undefined;
    this.#reading ??= { file, connection: SqliteConnection.forReading(this.#path, this.#clock) };
    return this.#reading.connection;
  }

  /** Writers go on meanwhile: what they write stays in the WAL until the snapshot ends. */
  async snapshot(): Promise<SqlSnapshot | undefined> {
    const path = this.#path;
    const file = identityOf(path);
    if (file === undefined) return undefined;
    const session = SqliteConnection.forReading(path, this.#clock);
    const end = async (): Promise<void> => {
      await session.close();
      removeWal(path, file);
    };
    try {
      // A transaction sees what is there at its first read.
      await session.exec('BEGIN');
      await session.query('SELECT 1 FROM sqlite_schema LIMIT 1');
      return { session, [Symbol.asyncDispose]: end };
    } catch (error) {
      await end();
      throw error;
    }
  }

  async lockForm(formId: string, options: WriterOptions): Promise<FormLock | undefined> {
    this.#isClosed = false;
    makeFolder(dirname(this.#path));
    createPrivate(this.#path);
    followRights(this.#path);
    return waitForLock(() => this.#tryLock(formId), options, this.#clock);
  }

  check(): Promise<CheckResult[]> {
    return checkSqlite(this.#path, this.#clock);
  }

  async scrub(work: (connection: SqlSession) => Promise<void>): Promise<void> {
    await this.#closeIdle();
    // A connection that reads keeps no transaction open between two statements.
    const connection = await SqliteConnection.forWriting(this.#path, this.#clock);
    try {
      await connection.scrub();
      await work(connection);
    } finally {
      await connection.close();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.connection.close();
    // After the one that reads: whoever closes the last connection removes the WAL, and only one that writes can.
    await this.#closeIdle();
    if (reading !== undefined) removeWal(this.#path, reading.file);
  }

  async #closeIdle(): Promise<void> {
    const idle = this.#idle;
    this.#idle = [];
    for (const { connection } of idle) await connection.close();
  }

  async #tryLock(formId: string): Promise<FormLock | undefined> {
    const lock = tryLockFile(this.#path, formId);
    if (lock === undefined) return undefined;
    this.#open++;
    try {
      const connection = await this.#writing();
      return {
        connection,
        release: async () => {
          // The lock is released last: this connection may still be writing until then.
          using _lock = lock;
          this.#open--;
          await this.#keep(connection);
        },
      };
    } catch (error) {
      this.#open--;
      lock[Symbol.dispose]();
      throw error;
    }
  }

  /** An idle connection, or a new one where the file was replaced, restored or closed to us meanwhile. */
  async #writing(): Promise<SqliteConnection> {
    for (let idle = this.#takeIdle(); idle !== undefined; idle = this.#takeIdle()) {
      const isSame = changeOf(this.#path) === idle.changed;
      if (isSame && (await idle.connection.isReusable())) return idle.connection;
      await idle.connection.close();
    }
    return SqliteConnection.forWriting(this.#path, this.#clock, this.#threadFromRows);
  }

  #takeIdle(): Idle | undefined {
    const last = this.#idle.at(-1);
    this.#idle = this.#idle.slice(0, -1);
    return last;
  }

  /**
   * Brings the WAL into the file, which takes as long as a small pass: the last of several writers does it for all. Idle
   * connections that were good for the next writer still are.
   */
  async #fold(connection: SqliteConnection): Promise<void> {
    const bytes = sizeOf(`${this.#path}-wal`);
    if (bytes === 0 || (this.#open > 0 && bytes < LARGE_WAL)) return;
    const before = changeOf(this.#path);
    await connection.fold();
    const changed = changeOf(this.#path);
    if (changed === undefined) return;
    this.#idle = this.#idle.map((idle) => (idle.changed === before ? { ...idle, changed } : idle));
  }

  /** Closes a connection, or keeps it for the next writer. Either way the file is whole without its WAL. */
  async #keep(connection: SqliteConnection): Promise<void> {
    await this.#fold(connection);
    const isReusable = await connection.isReusable();
    const changed = changeOf(this.#path);
    const mayKeep = isReusable && changed !== undefined && !this.#isClosed;
    if (mayKeep && this.#idle.length < MOST_IDLE)
      this.#idle = [...this.#idle, { connection, changed }];
    else await connection.close();
  }
}

/**
 * When a file, its rights or its owner were last changed. What is written goes into the WAL first: a checkpoint may have changed
 * it, or a person who put a copy in its place, of which SQLite would not know.
 */
const changeOf = (path: string): bigint | undefined =>
  statSync(path, { throwIfNoEntry: false, bigint: true })?.ctimeNs;

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Removes the WAL that a connection which reads left beside `file`: SQLite makes one for each, and those that write alone
 * take it away. It stays while another process uses it, and where this user may only read.
 */
function removeWal(path: string, file: string): void {
  try {
    if (identityOf(path) !== file || !existsSync(`${path}-wal`)) return;
    const engine = new SqliteEngine(path, 'rewrite');
    try {
      engine.exec('PRAGMA schema_version');
    } finally {
      engine.close();
    }
  } catch {
    // Everything is in the files as it was.
  }
}

/**
 * Takes the lock on a form: an exclusive transaction on an empty SQLite file of its own, in a folder beside the
 * database. The operating system releases it when the process dies, however it dies. Undefined when another holds it.
 */
function tryLockFile(databasePath: string, formId: string): Disposable | undefined {
  const folder = `${databasePath}-locks`;
  makeFolder(folder);
  const name = createHash('sha256').update(formId).digest('hex').slice(0, 24);
  const lock = join(folder, `${name}.lock`);
  createPrivate(lock);
  followWriters(databasePath, folder, lock);
  const file = new DatabaseSync(lock, { timeout: 0 });
  try {
    // Nothing is written there: a journal on disk would only have to be removed, durably, at the end.
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => file.close() };
}

/** A SQLite database in memory, for trying things out: private to this target, and gone with it. */
export class SqliteMemory implements SqlDatabase {
  readonly kind = 'sqlite';
  readonly dialect = sqliteDialect;
  readonly placeName = PLACE_NAME;
  readonly address = 'sqlite::memory:';
  readonly #connection: SqliteConnection;
  readonly #clock: Clock;
  readonly #locked = new Set<string>();

  constructor(clock: Clock) {
    this.#connection = SqliteConnection.inMemory(clock);
    this.#clock = clock;
  }

  async reading(): Promise<SqlSession> {
    return this.#connection;
  }

  /** Nobody but this process can write there. */
  async snapshot(): Promise<SqlSnapshot> {
    return { session: this.#connection, [Symbol.asyncDispose]: async () => {} };
  }

  lockForm(formId: string, options: WriterOptions): Promise<FormLock | undefined> {
    return waitForLock(async () => this.#tryLock(formId), options, this.#clock);
  }

  async check(): Promise<CheckResult[]> {
    return [{ ok: true, message: 'A database in memory: everything in it goes with the process.' }];
  }

  /** There is no file. */
  scrub(work: (connection: SqlSession) => Promise<void>): Promise<void> {
    return work(this.#connection);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #tryLock(formId: string): FormLock | undefined {
    if (this.#locked.has(formId)) return undefined;
    this.#locked.add(formId);
    const connection: SqlConnection = this.#connection;
    return { connection, release: async () => void this.#locked.delete(formId) };
  }
}
