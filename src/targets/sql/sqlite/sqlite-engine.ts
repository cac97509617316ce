import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { SqlRow, SqlValue } from '../sql-session.ts';
import { rolledBackError } from './sqlite-errors.ts';
import { type FlatRows, storeFlatRows, type StorePlan } from './sqlite-store.ts';

/** Statements kept compiled; a pass uses some two dozen. */
const KEPT_STATEMENTS = 200;

type Awaitable<T> = T | Promise<T>;

/** An engine in this thread, or in one of its own. */
export interface AnyEngine {
  /** The rows of a statement, as objects or as arrays. */
  all(
    sql: string,
    params: readonly SqlValue[],
    asArrays: boolean,
  ): Awaitable<SqlRow[] | unknown[][]>;
  /** Runs a statement of a transaction, whose rows nobody needs; in this thread it throws at once. */
  send(sql: string, params: readonly SqlValue[]): void;
  /** Runs one or more statements without parameters. */
  exec(sql: string): Awaitable<void>;
  /** See {@link storeFlatRows}. In a transaction only. */
  store(plan: StorePlan, rows: FlatRows): Awaitable<Uint8Array>;
  /** Ends a transaction that has begun and not ended. */
  rollBack(): Awaitable<void>;
  close(): Awaitable<void>;
}

/** An open database with its compiled statements, for the thread that opened it. Nothing of it waits. */
export class SqliteEngine implements AnyEngine {
  readonly #database: DatabaseSync;
  readonly #readers = new Map<string, StatementSync>();
  readonly #runners = new Map<string, StatementSync>();

  /** `write` makes a file that is missing, `rewrite` does not. */
  constructor(path: string, access: 'read' | 'write' | 'rewrite') {
    const readOnly = access === 'read';
    const place = access === 'rewrite' ? existingFile(path) : path;
    // Types of columns are declared in the schema table itself (see sqlite-types.ts), which is refused by default.
    this.#database = new DatabaseSync(place, { timeout: 0, readOnly, defensive: readOnly });
  }

  all(sql: string, params: readonly SqlValue[], asArrays: boolean): SqlRow[] | unknown[][] {
    const statement = this.#kept(this.#readers, sql);
    statement.setReturnArrays(asArrays);
    return statement.all(...params.map(toBound));
  }

  /** Runs a statement that returns no rows; how many it changed itself, without what triggers did. */
  run(sql: string, params: readonly (string | number | bigint | null)[]): number {
    return Number(this.#kept(this.#runners, sql).run(...params).changes);
  }

  send(sql: string, params: readonly SqlValue[]): void {
    this.#requireTransaction();
    if (params.length === 0) this.exec(sql);
    else this.all(sql, params, false);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  store(plan: StorePlan, rows: FlatRows): Uint8Array {
    this.#requireTransaction();
    return storeFlatRows(this, plan, rows);
  }

  rollBack(): void {
    // Some errors (disk full, for one) have rolled back already.
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }

  close(): void {
    this.#readers.clear();
    this.#runners.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /**
   * What one told before has failed with may have rolled back the whole transaction (a full disk does, or a trigger), and this
   * one was told before that was known: it would be committed by itself (L5).
   */
  #requireTransaction(): void {
    if (!this.#database.isTransaction) throw rolledBackError();
  }

  #kept(statements: Map<string, StatementSync>, sql: string): StatementSync {
    const kept = statements.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(withMarks(sql));
    if (statements === this.#readers) statement.setReadBigInts(true);
    if (statements.size >= KEPT_STATEMENTS) statements.clear();
    statements.set(sql, statement);
    return statement;
  }
}

/**
 * The placeholders as SQLite has them. Without a number where each comes once and in order: `node:sqlite` looks for the name of
 * a numbered one among all of them, each time that it binds a value.
 */
function withMarks(sql: string): string {
  let [next, isInOrder] = [1, true];
  const numbered = sql.replace(/\$(\d+)/g, (_mark, number: string) => {
    isInOrder &&= Number(number) === next++;
    return `?${number}`;
  });
  return isInOrder ? sql.replace(/\$\d+/g, '?') : numbered;
}

function existingFile(path: string): URL {
  const url = pathToFileURL(path);
  // SQLite, "Uniform Resource Identifiers": not `rwc`, which makes the file.
  url.searchParams.set('mode', 'rw');
  return url;
}

function toBound(value: SqlValue): string | number | bigint | null {
  if (value === null || typeof value !== 'object') return value;
  throw new TypeError('SQLite takes no lists');
}
