import { ApiError, invalidQuery } from './api-error.ts';
import { fullName, shownName, type Table } from './catalog.ts';

/** An open transaction. */
export interface Transaction {
  readonly id: string;
  readonly startedAt: number;
  /** Names of the tables whose rows it changed. */
  readonly changed: Set<string>;
  /** The tables into which it wrote in any way. */
  readonly written: Set<Table>;
}

interface Entry {
  /** Increases with each commit that changed rows by UPDATE, DELETE, MERGE. */
  committedAt: number;
  holder: Transaction | 'statement' | undefined;
  /** Running INSERTs outside of transactions. */
  inserting: number;
  /** Its columns are being changed, or it is being dropped: no other writer is admitted. */
  isChanging: boolean;
}

/**
 * Records which transaction changes which table. BigQuery compares whole tables: of two transactions that change one,
 * the later is aborted; a statement outside of transactions waits.
 */
export class TableLocks {
  readonly #entries = new Map<string, Entry>();
  readonly #open = new Set<Transaction>();
  #sequence = 0;
  #wake: (() => void)[] = [];
  #isClosed = false;

  begin(id: string): Transaction {
    const transaction: Transaction = {
      id,
      startedAt: this.#sequence,
      changed: new Set(),
      written: new Set(),
    };
    this.#open.add(transaction);
    return transaction;
  }

  /**
   * Reserves a table for a transaction until its end. Another change of the table since the transaction began is a
   * conflict.
   */
  async take(table: Table, transaction: Transaction): Promise<void> {
    const entry = this.#entry(table);
    if (entry.holder === transaction) return;
    while (entry.holder === 'statement') await this.#change();
    if (entry.holder !== undefined || entry.committedAt > transaction.startedAt) {
      throw conflict(table, transaction);
    }
    entry.holder = transaction;
    transaction.changed.add(fullName(table));
  }

  /** Records that a transaction writes to a table without changing rows of it. */
  async note(table: Table, transaction: Transaction): Promise<void> {
    const entry = this.#entry(table);
    while (entry.isChanging) await this.#change();
    transaction.written.add(table);
  }

  /** Ends a transaction; with `committed`, later ones conflict with its changes. */
  end(transaction: Transaction, committed: boolean): void {
    if (!this.#open.delete(transaction)) return;
    // Cached facts about these tables are outdated.
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

  /** Runs a mutating statement outside of transactions once no other one changes its table. */
  async alone<T>(table: Table, run: () => Promise<T>): Promise<T> {
    const entry = this.#entry(table);
    while (entry.holder !== undefined) await this.#change();
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

  /** Runs an INSERT outside of transactions, concurrently with anything except a change of the table's columns. */
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

  /** Changes the columns of a table, or drops it, once nothing writes to it: DuckDB would let the writers fail. */
  async changing<T>(table: Table, run: () => Promise<T>): Promise<T> {
    const entry = this.#entry(table);
    const isWritten = (): boolean => this.#open.values().some((one) => one.written.has(table));
    while (entry.holder !== undefined || entry.inserting > 0 || isWritten()) await this.#change();
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

  /** Ends all waits. */
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
      inserting: 0,
      isChanging: false,
    };
    this.#entries.set(name, entry);
    return entry;
  }

  /** Until something has ended. */
  #change(): Promise<void> {
    if (this.#isClosed) {
      return Promise.reject(new ApiError('stopped', 'The emulator was closed meanwhile'));
    }
    return new Promise((done) => this.#wake.push(done));
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
