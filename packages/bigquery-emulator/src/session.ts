import { invalidQuery } from './api-error.ts';
import type { Scope } from './analyzer.ts';
import type { Placeholder } from './emit.ts';
import type { Store, StoreConnection } from './store.ts';
import type { TableLocks, Transaction } from './transactions.ts';
import type { BqType, BqValue } from './types.ts';
import { bindingOf } from './values.ts';

/** A value with its type. */
export interface Typed {
  readonly type: BqType;
  readonly value: BqValue;
}

/** The parameters of a job. */
export interface Parameters {
  readonly named: ReadonlyMap<string, Typed>;
  readonly positional: readonly Typed[];
}

/** Where statements run one after another: of one script, or of one interactive session. */
export class Session {
  readonly connection: StoreConnection;
  transaction: Transaction | undefined;
  /** Variables by name, innermost block last. */
  readonly blocks: Map<string, { type: BqType; value: BqValue }>[] = [new Map()];
  readonly system = new Map<string, BqValue>();
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

  /** Names and types for the analyzer. */
  scope(parameters: Parameters): Scope {
    const variables = new Map<string, BqType>();
    for (const block of this.blocks) {
      for (const [name, { type }] of block) variables.set(name, type);
    }
    return {
      named: new Map([...parameters.named].map(([name, { type }]) => [name, type])),
      positional: parameters.positional.map(({ type }) => type),
      variables,
    };
  }

  /** What binds to a placeholder; `nowText` is the moment of the statement. */
  binding({ source, type }: Placeholder, parameters: Parameters, nowText: string): string | null {
    switch (source.from) {
      case 'now':
        return nowText;
      case 'named':
        return bound(parameters.named.get(source.name), type);
      case 'positional':
        return bound(parameters.positional[source.position - 1], type);
      case 'variable':
        return bound(this.variable(source.name), type);
      case 'system':
        return bindingOf(this.system.get(source.name) ?? null, type);
      default:
        return source satisfies never;
    }
  }

  /** The innermost variable of a name. */
  variable(name: string): { type: BqType; value: BqValue } | undefined {
    return this.blocks.findLast((block) => block.has(name))?.get(name);
  }

  async begin(id: string): Promise<void> {
    if (this.transaction !== undefined) {
      throw invalidQuery(
        'Transaction control error: a transaction is already open; nested transactions are not supported.',
      );
    }
    // What others commit while the snapshot is taken may be missing in it, so it has to be a conflict.
    const transaction = this.#locks.begin(id, () =>
      this.connection.run('ROLLBACK').catch(() => undefined),
    );
    try {
      await this.connection.run('BEGIN TRANSACTION');
      // The snapshot is taken by the first look at the database.
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
      await this.#locks.check(transaction);
      transaction.isCommitting = true;
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

  /** Ends what is open and gives the connection back. */
  async close(): Promise<void> {
    await this.rollback();
    this.#store.release(this.connection);
  }
}

function bound(typed: Typed | undefined, type: BqType): string | null {
  if (typed === undefined) throw new Error('A statement names a value that nobody gave.');
  return bindingOf(typed.value, type);
}
