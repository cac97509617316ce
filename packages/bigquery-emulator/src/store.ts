import {
  DuckDBInstance,
  type DuckDBConnection,
  type DuckDBScalarFunction,
  type DuckDBValue,
} from '@duckdb/node-api';
import { ApiError, invalidQuery } from './api-error.ts';
import { storeFunctions } from './store-functions.ts';

/** Values for the placeholders of a statement. */
export type Bindings = Readonly<Record<string, string | null>>;

/** The underlying database: DuckDB, in memory. */
export class Store {
  readonly #instance: DuckDBInstance;
  readonly #idle: StoreConnection[] = [];

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  static async open(): Promise<Store> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '1',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      enable_external_access: 'false',
    });
    const store = new Store(instance);
    const connection = await store.connect();
    // A transaction reads this table first, so that it sees everything as of then.
    for (const one of storeFunctions()) connection.register(one);
    await connection.run('CREATE TABLE snapshot_anchor (n INTEGER)');
    store.release(connection);
    return store;
  }

  /** A separate connection: return it with {@link release} once nothing is open on it. */
  async connect(): Promise<StoreConnection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const connection = new StoreConnection(await this.#instance.connect());
    await connection.run("SET TimeZone = 'UTC'");
    return connection;
  }

  release(connection: StoreConnection): void {
    this.#idle.push(connection);
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
    this.#instance.closeSync();
  }
}

/** One connection: its statements run one after another, and it has its own transaction. */
export class StoreConnection {
  readonly #connection: DuckDBConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Runs a statement. Returns the number of changed rows, 0 for a statement that changes none. */
  async run(sql: string, bindings: Bindings = {}): Promise<number> {
    try {
      const result = await this.#connection.run(sql, given(bindings));
      return result.rowsChanged;
    } catch (error) {
      throw translated(error, sql);
    }
  }

  /** The rows of a query, each a list of values: texts, NULL, lists. */
  async rows(sql: string, bindings: Bindings = {}): Promise<unknown[][]> {
    try {
      const reader = await this.#connection.runAndReadAll(sql, given(bindings));
      return reader.getRows();
    } catch (error) {
      throw translated(error, sql);
    }
  }

  /** Registers a function with the whole database. */
  register(one: DuckDBScalarFunction): void {
    this.#connection.registerScalarFunction(one);
  }

  close(): void {
    this.#connection.closeSync();
  }
}

function given(bindings: Bindings): Record<string, DuckDBValue> | undefined {
  const entries = Object.entries(bindings);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Errors of a value belong to the statement; errors of DuckDB's parser and binder belong to the emulator. */
function translated(error: unknown, sql: string): Error {
  if (error instanceof ApiError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, kind = '', message = text] = /^([A-Z][\w ]*?) Error: ([^]*)$/.exec(text) ?? [];
  if (kind === 'Catalog' && /Table with name t\d+ does not exist/.test(message))
    return new ApiError('notFound', 'Not found: a table was deleted while the statement ran');
  if (/^(Binder|Parser|Catalog|INTERNAL|Not implemented|Fatal|IO|Internal)$/i.test(kind)) {
    return new Error(`bigquery-emulator wrote a statement that DuckDB refuses: ${text}\n${sql}`);
  }
  if (kind.startsWith('TransactionContext')) {
    return invalidQuery(`Transaction is aborted due to concurrent update: ${message}`);
  }
  const isTooBig =
    /Out of Range|Conversion/.test(kind) && /DECIMAL|INT64|BIGINT|overflow/i.test(message);
  return invalidQuery(isTooBig ? `numeric or integer overflow: ${message}` : message.trim());
}
