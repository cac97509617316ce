import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../../../base/clock.ts';
import type { Database, Param, Session, SqlRow } from '../database.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { isBusy } from './sqlite-errors.ts';

/**
 * WAL lets people read while we write; FULL makes a commit outlast a power failure. What is deleted is overwritten with zeros
 * (L18). Of pages of 4 kB, rows of 1 kB waste a quarter.
 */
const SETTINGS = `PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
  PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 2000; PRAGMA busy_timeout = 0`;

/** How long a statement waits for another process that holds the file, and between two tries. */
const [BUSY_LIMIT_MS, BUSY_PAUSE_MS] = [60_000, 10];
const MOST_STATEMENTS = 200;

/**
 * A connection to a SQLite file. SQLite itself never waits, which would block the whole process: a locked file is tried again
 * after a pause.
 */
export class SqliteDatabase implements Database {
  readonly dialect = sqliteDialect;
  readonly #path: string;
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #session: Session;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(path: string, db: DatabaseSync, clock: Clock) {
    [this.#path, this.#db, this.#clock] = [path, db, clock];
    this.#session = new SqliteSession(db);
  }

  /** Opens a file, and makes it where it is missing. */
  static async open(path: string, clock: Clock): Promise<SqliteDatabase> {
    try {
      await mkdir(dirname(path), { recursive: true });
      const database = new SqliteDatabase(path, new DatabaseSync(path), clock);
      await database.#patiently(async () => database.#db.exec(SETTINGS));
      return database;
    } catch (error) {
      throw sqliteDialect.describe(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    if (this.#db.isOpen) this.#db.close();
  }

  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]> {
    return this.#inTurn(() => this.#patiently(() => this.#session.query(sql, params)));
  }

  run(sql: string, params?: readonly Param[]): Promise<number> {
    return this.#inTurn(() => this.#patiently(() => this.#session.run(sql, params)));
  }

  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#patiently(async () => this.#db.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(this.#session);
        await this.#patiently(async () => this.#db.exec('COMMIT'));
        return result;
      } catch (error) {
        if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** A file beside ours that is locked as long as this process has it open. */
  async lock(name: string): Promise<AsyncDisposable | null> {
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
    const db = new DatabaseSync(`${this.#path}-lock-${hash}`);
    try {
      db.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      return {
        async [Symbol.asyncDispose]() {
          if (db.isOpen) db.close();
        },
      };
    } catch (error) {
      db.close();
      if (isBusy(error)) return null;
      throw sqliteDialect.describe(error);
    }
  }

  /** SQLite leaves what was deleted in the WAL, and in pages of rows that were rewritten. */
  scrub(): Promise<void> {
    return this.#inTurn(() =>
      this.#patiently(async () => this.#db.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')),
    );
  }

  /** A reader that holds a snapshot delays nothing: what it keeps in the WAL comes into the file later. */
  settle(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
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

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const startMs = this.#clock.now();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isBusy(error) || this.#clock.now() - startMs > BUSY_LIMIT_MS) throw error;
        await this.#clock.sleep(BUSY_PAUSE_MS);
      }
    }
  }
}

/** A statement, and which parameter each of its `?` is; null: they are in their order. */
interface Prepared {
  readonly statement: StatementSync;
  readonly order: readonly number[] | null;
}

/** Statements on a connection, prepared once. */
class SqliteSession implements Session {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    const { statement, order } = this.#prepare(sql, params.length);
    return statement.all(...inOrder(params, order));
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    const { statement, order } = this.#prepare(sql, params.length);
    return Number(statement.run(...inOrder(params, order)).changes);
  }

  #prepare(sql: string, many: number): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const order: number[] = [];
    // `node:sqlite` binds values in their order to `?` only.
    const plain =
      many === 0
        ? sql
        : sql.replaceAll(/\$(\d+)/g, (_text, number: string) => {
            order.push(Number(number) - 1);
            return '?';
          });
    const statement = this.#db.prepare(plain);
    // Whole numbers keep all their digits.
    statement.setReadBigInts(true);
    if (this.#prepared.size >= MOST_STATEMENTS) this.#prepared.clear();
    const isInOrder = order.length === many && order.every((param, at) => param === at);
    const prepared = { statement, order: isInOrder ? null : order };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** A list is bound as JSON. */
const bound = (param: Param | undefined): SQLInputValue =>
  typeof param === 'object' && param !== null ? JSON.stringify(param) : (param ?? null);

const inOrder = (params: readonly Param[], order: Prepared['order']): SQLInputValue[] =>
  order === null ? params.map(bound) : order.map((at) => bound(params[at]));
