import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PRIVATE_FILE } from '../../../base/private-files.ts';
import type { Clock } from '../../../base/clock.ts';
import {
  type Database,
  describingAs,
  type Dialect,
  type Param,
  type Session,
  type SqlRow,
} from '../database.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { isBusy } from './sqlite-errors.ts';
import { SqliteSession } from './sqlite-session.ts';

/**
 * WAL lets people read while we write; FULL makes a commit outlast a power failure. Deleted data is overwritten with zeros
 * (L18). Of pages of 4 kB, rows of 1 kB waste a quarter.
 */
const SETTINGS = `PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
  PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 2000; PRAGMA busy_timeout = 0`;

/** How long a statement waits for another process that holds the file, and between two tries. */
const [BUSY_LIMIT_MS, BUSY_PAUSE_MS] = [60_000, 10];

/**
 * A SQLite file: a connection that is made at first use, and again where the file was replaced or deleted. SQLite itself never
 * waits, which would block the whole process: a locked file is tried again after a pause.
 */
export class SqliteDatabase implements Database {
  readonly dialect: Dialect;
  readonly #path: string;
  readonly #clock: Clock;
  #open: OpenFile | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  /** `place`: see {@link describingAs}. */
  constructor(path: string, clock: Clock, place: string) {
    [this.#path, this.#clock] = [path, clock];
    this.dialect = describingAs(sqliteDialect, place);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    this.#close();
  }

  async isThere(): Promise<boolean> {
    return existsSync(this.#path);
  }

  async checkPlace(): Promise<string> {
    let folder = dirname(this.#path);
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    try {
      accessSync(folder, constants.W_OK | constants.X_OK);
      return `The file does not exist yet; it can be made in ${folder}`;
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  /** A new file is for this user only; its owner may give it to others. */
  async make(): Promise<void> {
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      if (!existsSync(this.#path)) closeSync(openSync(this.#path, 'a', PRIVATE_FILE));
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]> {
    return this.#inTurn(() => this.#patiently(({ session }) => session.query(sql, params)));
  }

  run(sql: string, params?: readonly Param[]): Promise<number> {
    return this.#inTurn(() => this.#patiently(({ session }) => session.run(sql, params)));
  }

  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#patiently(async ({ db }) => db.exec('BEGIN IMMEDIATE'));
      const { db, session } = this.#connected();
      try {
        const result = await work(session);
        await this.#patiently(async () => db.exec('COMMIT'));
        return result;
      } catch (error) {
        if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** A file beside ours that is locked as long as this process has it open. */
  async lock(name: string): Promise<AsyncDisposable | null> {
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
    const path = `${this.#path}-lock-${hash}`;
    let db: DatabaseSync | undefined;
    try {
      db = new DatabaseSync(path);
      followRights(this.#path, path);
      db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      const held = db;
      return {
        async [Symbol.asyncDispose]() {
          if (held.isOpen) held.close();
        },
      };
    } catch (error) {
      db?.close();
      if (isBusy(error)) return null;
      throw this.dialect.describe(error);
    }
  }

  async snapshot(): Promise<Session & AsyncDisposable> {
    const db = new DatabaseSync(this.#path, { readOnly: true });
    try {
      // The first reading takes the snapshot.
      await this.#patiently(async () => db.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1'));
    } catch (error) {
      db.close();
      throw this.dialect.describe(error);
    }
    return Object.assign(new SqliteSession(db), {
      async [Symbol.asyncDispose]() {
        if (db.isOpen) db.close();
      },
    });
  }

  /** SQLite leaves deleted answers in the WAL and in the pages of rewritten rows. */
  scrub(): Promise<void> {
    return this.#inTurn(() =>
      this.#patiently(async ({ db }) => db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')),
    );
  }

  /** A reader's snapshot delays nothing: the WAL reaches the file after the reader ends. */
  async settle(): Promise<void> {
    if (this.#open === null) return;
    await this.#inTurn(async () => {
      try {
        this.#open?.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    });
  }

  /** One after the other: this connection has one transaction at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }

  async #patiently<T>(work: (open: OpenFile) => Promise<T>): Promise<T> {
    const startMs = this.#clock.now();
    for (;;) {
      try {
        return await work(this.#connected());
      } catch (error) {
        if (!isBusy(error) || this.#clock.now() - startMs > BUSY_LIMIT_MS) throw error;
        await this.#clock.sleep(BUSY_PAUSE_MS);
      }
    }
  }

  /** The connection to the file that now has the path. Writes to a deleted file would be lost. */
  #connected(): OpenFile {
    const open = this.#open;
    if (open !== null && (open.db.isTransaction || open.inode === inodeOf(this.#path))) return open;
    this.#close();
    const inode = inodeOf(this.#path);
    if (inode === null) throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
    const db = new DatabaseSync(this.#path);
    try {
      db.exec(SETTINGS);
    } catch (error) {
      db.close();
      throw error;
    }
    const made = { db, session: new SqliteSession(db), inode };
    this.#open = made;
    return made;
  }

  #close(): void {
    if (this.#open?.db.isOpen === true) this.#open.db.close();
    this.#open = null;
  }
}

interface OpenFile {
  readonly db: DatabaseSync;
  readonly session: SqliteSession;
  /** Identifies the file, independent of its path. */
  readonly inode: string;
}

function inodeOf(path: string): string | null {
  const stat = existsSync(path) ? statSync(path, { throwIfNoEntry: false }) : undefined;
  return stat === undefined ? null : `${stat.dev} ${stat.ino}`;
}

/** Gives a file beside the database to those who may use the database: others get an error when they try. */
function followRights(database: string, beside: string): void {
  try {
    const [{ mode, gid }, own] = [statSync(database), statSync(beside)];
    if (own.gid !== gid) chownSync(beside, own.uid, gid);
    if ((own.mode & 0o777) !== (mode & 0o666)) chmodSync(beside, mode & 0o666);
  } catch {
    // It belongs to another user.
  }
}
