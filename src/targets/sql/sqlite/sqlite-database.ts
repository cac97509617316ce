import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { makeFolder } from '../../../base/folder.ts';
import type { CheckFinding, WriterOptions } from '../../../mirror/target.ts';
import { type FormLock, waitForLock } from '../form-lock.ts';
import type { SqlConnection, SqlSession } from '../sql-session.ts';
import type { SqlDatabase } from '../sql-target.ts';
import { checkSqlite } from './sqlite-check.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { tryLockFile } from './sqlite-lock.ts';

/** A SQLite file: a connection for each writer and one for all reading. */
export class SqliteFile implements SqlDatabase {
  readonly kind = 'sqlite';
  readonly dialect = sqliteDialect;
  readonly address: string;
  readonly #path: string;
  readonly #clock: Clock;
  #reading: { readonly file: string; readonly connection: SqliteConnection } | undefined;

  constructor(path: string, clock: Clock) {
    this.address = `sqlite:${path}`;
    this.#path = resolve(path);
    this.#clock = clock;
  }

  /** Opened to read only, so that a file that is not ours stays as it is, and none is made. */
  async reading(): Promise<SqlSession | undefined> {
    const file = identityOf(this.#path);
    // Somebody who deletes the file to begin anew must not be answered from the deleted one.
    if (this.#reading !== undefined && this.#reading.file !== file) await this.close();
    if (file === undefined) return undefined;
    this.#reading ??= { file, connection: SqliteConnection.forReading(this.#path, this.#clock) };
    return this.#reading.connection;
  }

  async lockForm(formId: string, options: WriterOptions): Promise<FormLock | undefined> {
    makeFolder(dirname(this.#path));
    return waitForLock(() => this.#tryLock(formId), options, this.#clock);
  }

  check(): Promise<CheckFinding[]> {
    return checkSqlite(this.#path, this.#clock);
  }

  async close(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.connection.close();
  }

  async #tryLock(formId: string): Promise<FormLock | undefined> {
    const lock = tryLockFile(this.#path, formId);
    if (lock === undefined) return undefined;
    try {
      const connection = await SqliteConnection.forWriting(this.#path, this.#clock);
      return {
        connection,
        async release() {
          // The lock goes last: nobody else writes while this connection may still be at it.
          using _lock = lock;
          await connection.close();
        },
      };
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  }
}

/** Tells a file from another one at the same path; undefined when there is none. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** A SQLite database in memory, for trying things out: gone with the target, and nobody else can see it. */
export class SqliteMemory implements SqlDatabase {
  readonly kind = 'sqlite';
  readonly dialect = sqliteDialect;
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

  lockForm(formId: string, options: WriterOptions): Promise<FormLock | undefined> {
    return waitForLock(async () => this.#tryLock(formId), options, this.#clock);
  }

  async check(): Promise<CheckFinding[]> {
    return [{ ok: true, message: 'A database in memory: everything in it goes with the process.' }];
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
