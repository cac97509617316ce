import { ApiError, invalidQuery } from './api-error.ts';
import { fullName, shownName, type Table } from './catalog.ts';

/** A transaction that is open. */
export interface Transaction {
  readonly id: string;
  readonly startedMs: number;
  readonly startedAt: number;
  /** Names of the tables whose rows it changed. */
  readonly changed: Set<string>;
  /** The tables into which it wrote in any way. */
  readonly written: Set<Table>;
  /** Its changes are on their way into the store: it can't be ended any more. */
  isCommitting: boolean;
  /** What ended it without its doing. */
  ended: ApiError | undefined;
  /** Takes its changes back in the store. */
  readonly abort: () => Promise<unknown>;
}

/** A transaction ends by itself after so long. */
const MAX_DURATION_MS = 600_000;
const MAX_QUEUED = 20;
const LOOK_AGAIN_MS = 100;

interface Entry {
  /** Goes up with each commit that changed rows by UPDATE, DELETE, MERGE. */
  committedAt: number;
  holder: Transaction | 'statement' | undefined;
  queued: number;
  /** INSERTs outside of transactions that run. */
  inserting: number;
  /** Its columns are being changed, or it is being dropped: nobody writes meanwhile. */
  isChanging: boolean;
}

/**
 * Who changes which table. BigQuery looks at whole tables: of two transactions that change one, the later is ended; a
 * statement outside of transactions waits its turn.
 */
export class TableLocks {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #open = new Set<Transaction>();
  #sequence = 0;
  #wake: (() => void)[] = [];
  #isClosed = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(id: string, abort: () => Promise<unknown>): Transaction {
    const transaction: Transaction = {
      id,
      startedMs: this.#now(),
      startedAt: this.#sequence,
      changed: new Set(),
      written: new Set(),
      isCommitting: false,
      ended: undefined,
      abort,
    };
    this.#open.add(transaction);
    return transaction;
  }

  /** Throws when a transaction was ended by its age; call before each of its statements. */
  async check(transaction: Transaction): Promise<void> {
    await this.#expire();
    if (transaction.ended !== undefined) throw transaction.ended;
  }

  /** Takes a table for a transaction until its end. Another change of it since the transaction began is a conflict. */
  async take(table: Table, transaction: Transaction): Promise<void> {
    const entry = this.#entry(table);
    if (entry.holder === transaction) return;
    while (entry.holder === 'statement') await this.#change();
    await this.check(transaction);
    if (entry.holder !== undefined || entry.committedAt > transaction.startedAt) {
      throw conflict(table, transaction);
    }
    entry.holder = transaction;
    transaction.changed.add(fullName(table));
  }

  /** Notes that a transaction writes to a table without changing rows of it. */
  async note(table: Table, transaction: Transaction): Promise<void> {
    const entry = this.#entry(table);
    while (entry.isChanging) await this.#change();
    await this.check(transaction);
    transaction.written.add(table);
  }

  /** Ends a transaction; with `committed` its changes are what later ones conflict with. */
  end(transaction: Transaction, committed: boolean): void {
    if (!this.#open.delete(transaction)) return;
    // What others know of these tables is of before.
    for (const table of transaction.written) table.version++;
    if (committed && transaction.changed.size > 0) this.#sequence++;
    for (const name of transaction.changed) {
      const entry = this.#entries.get(name);
      if (entry === undefined) continue;
      entry.holder = undefined;
      if (committed) entry.committedAt = this.#sequence;
    }
    this.#notify();
  }

  /** Runs a mutating statement outside of transactions once nobody else changes its table. */
  async alone<T>(table: Table, run: () => Promise<T>): Promise<T> {
    const entry = this.#entry(table);
    if (entry.holder !== undefined && entry.queued >= MAX_QUEUED) {
      throw new ApiError(
        'resourcesExceeded',
        `Resources exceeded during query execution: Too many DML statements outstanding against table ${shownName(table)}, limit is ${MAX_QUEUED}.`,
      );
    }
    entry.queued++;
    try {
      while (entry.holder !== undefined) {
        await this.#change();
        await this.#expire();
      }
    } finally {
      entry.queued--;
    }
    entry.holder = 'statement';
    try {
      const result = await run();
      entry.committedAt = ++this.#sequence;
      return result;
    } finally {
      entry.holder = undefined;
      this.#notify();
    }
  }

  /** Runs an INSERT outside of transactions: beside anything but a change of the table's columns. */
  async inserting<T>(table: Table, run: () => Promise<T>): Promise<T> {
    const entry = this.#entry(table);
    while (entry.isChanging) await this.#change();
    entry.inserting++;
    try {
      return await run();
    } finally {
      entry.inserting--;
      this.#notify();
    }
  }

  /** Changes the columns of a table, or drops it, once nobody writes to it: DuckDB would have the writers fail. */
  async changing<T>(table: Table, run: () => Promise<T>): Promise<T> {
    const entry = this.#entry(table);
    const isWritten = (): boolean => this.#open.values().some((one) => one.written.has(table));
    while (entry.holder !== undefined || entry.inserting > 0 || isWritten()) {
      await this.#change();
      await this.#expire();
    }
    entry.holder = 'statement';
    entry.isChanging = true;
    try {
      return await run();
    } finally {
      entry.isChanging = false;
      entry.holder = undefined;
      this.#notify();
    }
  }

  /** Lets nobody wait any longer. */
  close(): void {
    this.#isClosed = true;
    this.#notify();
  }

  #entry(table: Table): Entry {
    const name = fullName(table);
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const entry: Entry = {
      committedAt: 0,
      holder: undefined,
      queued: 0,
      inserting: 0,
      isChanging: false,
    };
    this.#entries.set(name, entry);
    return entry;
  }

  async #expire(): Promise<void> {
    for (const transaction of this.#open) {
      const isYoung = this.#now() - transaction.startedMs <= MAX_DURATION_MS;
      if (isYoung || transaction.ended !== undefined || transaction.isCommitting) continue;
      transaction.ended = invalidQuery(
        `Transaction ${transaction.id} was aborted because it was open for more than 10 minutes.`,
      );
      await transaction.abort();
      this.end(transaction, false);
    }
  }

  /** Until something ended; now and then anyway, for transactions that only get old. */
  #change(): Promise<void> {
    if (this.#isClosed) {
      return Promise.reject(new ApiError('stopped', 'The emulator was closed meanwhile'));
    }
    return new Promise((done) => {
      const timer = setTimeout(done, LOOK_AGAIN_MS);
      this.#wake.push(() => {
        clearTimeout(timer);
        done();
      });
    });
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

/** Google's sentence for the loser of two transactions. */
export const conflict = (table: Table, transaction: Transaction): ApiError =>
  invalidQuery(
    `Transaction is aborted due to concurrent update against table ${shownName(table)}. Transaction ID: ${transaction.id}`,
  );
