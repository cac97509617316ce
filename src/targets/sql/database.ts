import { createHash } from 'node:crypto';
import { systemClock, withinTime } from '../../base/clock.ts';
import { isAbort, MirrorError } from '../../base/errors.ts';
import {
  type Dialect,
  isTrue,
  type Pages,
  type Param,
  type Session,
  type SqlRow,
} from './dialect.ts';

/** A connection to a database, with one transaction at a time. Errors are the driver's. */
export interface Connection extends Session {
  /** It cannot be used anymore; another one is made. */
  readonly isLost: boolean;
  begin(): Promise<void>;
  end(how: 'COMMIT' | 'ROLLBACK'): Promise<void>;
  /** Opens a snapshot: later writes are not visible. */
  freeze(): Promise<void>;
  /** Takes a lock that ends with this process. Returns a function that releases it, or null if another writer has the lock. */
  lock(name: string): Promise<(() => Promise<void>) | null>;
  /** Removes what was erased from these tables where it may remain, such as in files; absent if only an administrator can do that. */
  scrub?(tables: readonly string[]): Promise<void>;
  /** Waits for readers that keep erased data. Rejects if one still does. */
  requireErased?(): Promise<void>;
  /** Writes everything into the files, without their logs. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

/** How long a server may take to confirm that a connection ends. */
export const GOODBYE_MS = 5_000;

/** How to connect to a kind of database. */
export interface Driver {
  /** The dialect until a connection knows the exact one. */
  readonly dialect: Dialect;
  connect(): Promise<Connection>;
  /** The place for tables (the file, the schema), if the mirror can create it. */
  readonly place?: {
    isThere(session: Session): Promise<boolean>;
    make(session: Session): Promise<void>;
  };
}

/**
 * One database. It connects at first use, and again after a connection was lost. Locks are lost with the connection; revisions then
 * keep writers apart. Rejects with errors in words for people, except within a transaction, where errors are the driver's.
 */
export class Database implements Session, AsyncDisposable {
  readonly #driver: Driver;
  /** The target and its address, for messages; no password. */
  readonly place: string;
  #connection: Connection | undefined;
  #dialect: Dialect;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** It is a snapshot, which ends with its connection. */
  #isFrozen = false;

  constructor(driver: Driver, place: string) {
    [this.#driver, this.place] = [driver, place];
    this.#dialect = driver.dialect;
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Work that is still under way was given up. A server that hangs must not keep this process from ending.
    await withinTime(this.#turn, GOODBYE_MS, systemClock);
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.settle?.().catch(() => {});
    await connection?.close().catch(() => {});
  }

  /** Whether the place for tables exists. */
  async isThere(): Promise<boolean> {
    const { place } = this.#driver;
    return place === undefined
      ? this.#inTurn(async () => true)
      : this.#described(place.isThere(this));
  }

  /** Creates the place if it is missing, and connects. */
  async make(): Promise<void> {
    const { place } = this.#driver;
    if (!(await this.isThere()) && place !== undefined) await this.#described(place.make(this));
  }

  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]> {
    return this.#inTurn((connection) => connection.query(sql, params));
  }

  run(sql: string, params?: readonly Param[]): Promise<number> {
    return this.#inTurn((connection) => connection.run(sql, params));
  }

  async pages(sql: string, params: readonly Param[], size: number): Promise<Pages | undefined> {
    const pages = await this.#inTurn(async (connection) => connection.pages?.(sql, params, size));
    return pages && this.#describedPages(pages);
  }

  async *#describedPages(pages: Pages): AsyncGenerator<SqlRow[]> {
    try {
      yield* pages;
    } catch (error) {
      await this.#described(Promise.reject(error));
    }
  }

  /**
   * Runs a transaction; transactions run one after the other. In MySQL, a statement that creates a table, column or view commits
   * everything before it, and a new transaction begins after it.
   */
  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(async (connection) => {
      try {
        await connection.begin();
        const result = await work(connection);
        await connection.end('COMMIT');
        return result;
      } catch (error) {
        await connection.end('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  /** A lock that ends with this process; null if another writer has it. */
  lock(name: string): Promise<AsyncDisposable | null> {
    return this.#inTurn(async (connection) => {
      const release = await connection.lock(name);
      if (release === null) return null;
      const give = (): Promise<void> => (this.#turn = this.#turn.then(release).catch(() => {}));
      return { [Symbol.asyncDispose]: give };
    });
  }

  /** A snapshot of the database, over a connection of its own: later writes do not change it. */
  async snapshot(): Promise<Database> {
    const frozen = new Database(this.#driver, this.place);
    try {
      await frozen.#inTurn((connection) => connection.freeze());
      frozen.#isFrozen = true;
      return frozen;
    } catch (error) {
      await frozen[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** See {@link Connection.scrub}. */
  scrub(tables: readonly string[]): Promise<void> {
    return this.#inTurn(async (connection) => connection.scrub?.(tables));
  }

  /** See {@link Connection.requireErased}. */
  requireErased(): Promise<void> {
    return this.#inTurn(async (connection) => connection.requireErased?.());
  }

  /** Writes everything into the files. If that fails, the next run or closing does it. */
  async settle(): Promise<void> {
    await this.#inTurn(async (connection) => connection.settle?.()).catch(() => {});
  }

  /** One after the other: a connection has one transaction at a time. */
  #inTurn<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const result = this.#turn.then(() => this.#connected()).then(work);
    this.#turn = result.catch(() => {});
    return this.#described(result);
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.isLost === false) return this.#connection;
    // A caller that did not wait may close the database before the work is done. A new connection would then stay open.
    if (this.#isClosed) throw new Error('The database was closed.');
    // Another connection would read later writes.
    if (this.#isFrozen)
      throw new MirrorError(
        'TARGET_UNREACHABLE',
        `${this.place}: the connection ended, so the rest cannot be read as of the same instant. Try again.`,
      );
    await this.#connection?.close().catch(() => {});
    // A closed connection must not be used if no other can be made.
    this.#connection = undefined;
    this.#connection = await this.#driver.connect();
    this.#dialect = this.#connection.dialect;
    return this.#connection;
  }

  /** The same with errors in words for people. Errors that are already in such words stay unchanged. */
  async #described<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (error) {
      const description =
        error instanceof MirrorError || isAbort(error) ? undefined : this.#dialect.describe(error);
      if (description === undefined) throw error;
      const { code, what, remedy } = description;
      throw new MirrorError(code, `${this.place}: ${what}. ${remedy}`, { cause: error });
    }
  }
}

/** Lock names may be shared by the whole server, and have at most 64 characters. */
export const lockName = (place: string, what: string): string =>
  `forms-mirror:${createHash('sha256').update(`${place}\0${what}`).digest('hex').slice(0, 48)}`;

/**
 * See {@link Connection.lock}: a lock of the server that ends with the session. `held`: the locks of this session, which could
 * otherwise take one twice. `take`, `give`: expressions over the name.
 */
export async function lockSession(
  session: Session,
  held: Set<string>,
  name: string,
  { take, give }: { readonly take: string; readonly give: string },
): Promise<(() => Promise<void>) | null> {
  if (held.has(name)) return null;
  const [row] = await session.query(`SELECT ${take} AS mine`, [name]);
  if (!isTrue(row?.['mine'])) return null;
  held.add(name);
  return async () => {
    held.delete(name);
    await session.query(`SELECT ${give}`, [name]);
  };
}
