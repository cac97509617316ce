import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import type { Connection, Driver } from '../database.ts';
import type { Param, SqlRow } from '../dialect.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { lockFile } from './file-lock.ts';
import { BUSY, isBusy } from './sqlite-errors.ts';

/**
 * WAL lets people read while the mirror writes; FULL makes a commit survive a power failure. Deleted data is overwritten with zeros
 * (L18), and no answer is in a temporary file except while the whole file is rewritten. With pages of 4 kB, rows of 1 kB would waste a quarter.
 */
const SETTINGS = `PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
  PRAGMA cache_size = -8192; PRAGMA wal_autocheckpoint = 2000; PRAGMA busy_timeout = 0;
  PRAGMA temp_store = MEMORY`;

/** How long a statement waits for another process that holds the file, and how long between two tries. */
const [BUSY_LIMIT_MS, BUSY_PAUSE_MS] = [60_000, 10];
const ROWS_A_TURN = 200;
const MOST_PREPARED = 50;

/** A SQLite file. */
export const sqliteDriver = (path: string, clock: Clock): Driver => ({
  dialect: sqliteDialect,
  connect: () => patiently(clock, () => new SqliteConnection(path, clock)),
  place: {
    async isThere() {
      return existsSync(path);
    },
    async make() {
      mkdirSync(dirname(path), { recursive: true });
      closeSync(openSync(path, 'a'));
    },
  },
});

/**
 * A connection to the file that is at the path now. SQLite itself never waits, because that would block the whole process: after a
 * pause, a locked file is tried again.
 */
export class SqliteConnection implements Connection {
  readonly dialect = sqliteDialect;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #db: DatabaseSync;
  /** Identifies the file, independent of its path. */
  readonly #inode: string;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(path: string, clock: Clock) {
    [this.#path, this.#clock] = [path, clock];
    const inode = inodeOf(path);
    if (inode === null) throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
    [this.#inode, this.#db] = [inode, new DatabaseSync(path)];
    try {
      this.#db.exec(SETTINGS);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Another file is at the path: writes to a deleted file would be lost. */
  get isLost(): boolean {
    return !this.#db.isTransaction && inodeOf(this.#path) !== this.#inode;
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    return this.#patiently(() => this.#prepare(sql).all(named(params)));
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return this.#patiently(() => Number(this.#prepare(sql).run(named(params)).changes));
  }

  /**
   * Runs a statement for each row. The row's values, then the values common to all rows, are `?1`, `?2`, … and contain no lists. In
   * between it lets other work run, so that, for example, the source's responses need not wait for all of it.
   */
  async runEach(
    sql: string,
    rows: readonly (readonly Param[])[],
    same: readonly string[],
  ): Promise<void> {
    const statement = this.#prepare(sql);
    let many = 0;
    for (const row of rows) {
      if (++many % ROWS_A_TURN === 0) await nextTurn();
      // Not run(), which counts the changes of each.
      statement.get(...(row as readonly SQLInputValue[]), ...same);
    }
  }

  begin(): Promise<void> {
    return this.#execute('BEGIN IMMEDIATE');
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (this.#db.isTransaction) await this.#execute(how);
  }

  /** The first read takes the snapshot. */
  freeze(): Promise<void> {
    return this.#execute('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1');
  }

  /** Locks a file beside the database for as long as this process has it open. */
  async lock(name: string): Promise<(() => Promise<void>) | null> {
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
    const path = `${this.#path}-lock-${hash}`;
    const unlock = lockFile(path);
    return unlock && (async () => unlock());
  }

  /**
   * SQLite leaves deleted answers in the WAL and in the pages of rewritten rows. Writes what remains into a temporary file first,
   * because in memory a copy of a large file has no room. SQLite takes that file out of its folder at once.
   */
  async scrub(): Promise<void> {
    const folder = dirname(this.#path).replaceAll("'", "''");
    try {
      await this.#execute(`PRAGMA temp_store_directory = '${folder}'; PRAGMA temp_store = FILE`);
      await this.#execute('VACUUM');
    } finally {
      await this.#execute('PRAGMA temp_store = MEMORY');
      // Also after a failure, which leaves a WAL that fills the disk.
      await this.settle();
    }
  }

  /** Until a reader's snapshot ends, the file has what the reader sees. */
  requireErased(): Promise<void> {
    return this.#patiently(() => this.#emptyLog());
  }

  /** A reader's snapshot delays nothing: the WAL is moved into the file after the reader ends. */
  async settle(): Promise<void> {
    try {
      this.#emptyLog();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  #emptyLog(): void {
    const [result] = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    // For a reader that is in the way, SQLite reports no error.
    if (result?.['busy'] === 1) throw Object.assign(new Error('busy'), { errcode: BUSY });
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }

  #execute(sql: string): Promise<void> {
    return this.#patiently(() => this.#db.exec(sql));
  }

  #patiently<T>(work: () => T): Promise<T> {
    return patiently(this.#clock, work);
  }

  /** Preparing a statement takes longer than running it, so the statements of the last batches are kept. */
  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    // Whole numbers keep all their digits.
    statement.setReadBigInts(true);
    if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
    this.#prepared.set(sql, statement);
    return statement;
  }
}

async function patiently<T>(clock: Clock, work: () => T): Promise<T> {
  const startMs = clock.now();
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || clock.now() - startMs > BUSY_LIMIT_MS) throw error;
      await clock.sleep(BUSY_PAUSE_MS);
    }
  }
}

/** Parameters by their names in a statement. Binds a list as JSON. */
const named = (params: readonly Param[]): Record<string, SQLInputValue> =>
  Object.fromEntries(
    params.map((param, at) => [
      `$${at + 1}`,
      typeof param === 'object' && param !== null ? JSON.stringify(param) : param,
    ]),
  );

function inodeOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev} ${stat.ino}`;
}
