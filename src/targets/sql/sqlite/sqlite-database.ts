import { existsSync } from 'node:fs';
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
  #reading: Promise<SqliteConnection> | undefined;

  constructor(path: string, clock: Clock) {
    this.address = `sqlite:${path}`;
    this.#path = resolve(path);
    this.#clock = clock;
  }

  async reading(): Promise<SqlSession | undefined> {
    if (this.#reading === undefined && !existsSync(this.#path)) return undefined;
    this.#reading ??= openConnection(this.#path, this.#clock);
    try {
      return await this.#reading;
    } catch (error) {
      this.#reading = undefined;
      throw error;
    }
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
    await (await reading?.catch(() => undefined))?.close();
  }

  async #tryLock(formId: string): Promise<FormLock | undefined> {
    const lock = tryLockFile(this.#path, formId);
    if (lock === undefined) return undefined;
    try {
      const connection = await openConnection(this.#path, this.#clock);
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

async function openConnection(path: string, clock: Clock): Promise<SqliteConnection> {
  const connection = new SqliteConnection(path, clock);
  try {
    await connection.configure();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
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
    this.#connection = new SqliteConnection(':memory:', clock);
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
