import { invalidQuery } from './api-error.ts';
import type { Placeholder } from './emit.ts';
import type { Parameters } from './parameters.ts';
import type { Store, StoreConnection } from './store.ts';
import type { TableLocks, Transaction } from './transactions.ts';

/** The place in which statements run one after another: one script, or one interactive session. */
export class Session {
  readonly connection: StoreConnection;
  transaction: Transaction | undefined;
  /** `@@row_count`: rows that the last statement changed. */
  rowCount: number | undefined;
  readonly #store: Store;
  readonly #locks: TableLocks;

  private constructor(connection: StoreConnection, store: Store, locks: TableLocks) {
    this.connection = connection;
    this.#store = store;
    this.#locks = locks;
  }

  static async open(store: Store, locks: TableLocks): Promise<Session> {
    return new Session(await store.connect(), store, locks);
  }

  /** The values of placeholders. */
  binding({ source }: Placeholder, parameters: Parameters): string | null {
    if (source.from === 'rowCount') return this.rowCount?.toString() ?? null;
    const parameter = parameters.get(source.name);
    if (parameter === undefined) throw new Error('A statement names a value that nobody gave.');
    return parameter.text;
  }

  async begin(id: string): Promise<void> {
    if (this.transaction !== undefined) {
      throw invalidQuery(
        'Transaction control error: a transaction is already open; nested transactions are not supported.',
      );
    }
    // Commits of others while the snapshot is taken may be missing in it, so they must be conflicts.
    const transaction = this.#locks.begin(id);
    try {
      await this.connection.run('BEGIN TRANSACTION');
      // The first read of the database takes the snapshot.
      await this.connection.rows('SELECT count(*) FROM snapshot_anchor');
    } catch (error) {
      this.#locks.end(transaction, false);
      throw error;
    }
    this.transaction = transaction;
  }

  async commit(): Promise<void> {
    const { transaction } = this;
    if (transaction === undefined)
      throw invalidQuery('Transaction control error: there is no transaction to commit.');
    try {
      await this.connection.run('COMMIT');
    } catch (error) {
      await this.rollback();
      throw error;
    }
    this.transaction = undefined;
    this.#locks.end(transaction, true);
  }

  async rollback(): Promise<void> {
    const { transaction } = this;
    if (transaction === undefined) return;
    this.transaction = undefined;
    await this.connection.run('ROLLBACK').catch(() => undefined);
    this.#locks.end(transaction, false);
  }

  /** Ends an open transaction and returns the connection. */
  async close(): Promise<void> {
    await this.rollback();
    this.#store.release(this.connection);
  }
}
