import { createHash } from 'node:crypto';
import type { ConnectionOptions } from 'mysql2';
import {
  type Database,
  describingAs,
  type Dialect,
  type Param,
  type Session,
  type SqlRow,
} from '../database.ts';
import { type MysqlAddress, tlsOptions } from './mysql-address.ts';
import { mysqlDialect } from './mysql-dialect.ts';
import { MysqlSession } from './mysql-session.ts';

/**
 * A connection to a database of MySQL or MariaDB, made again after it was lost. Locks are lost with it: then revisions keep
 * writers apart.
 */
export class MysqlDatabase implements Database {
  readonly #options: ConnectionOptions;
  readonly #place: string;
  #dialect: Dialect;
  #session: MysqlSession | undefined;
  /** Locks that this process has: a session may take the same one twice. */
  #locks = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  /** Connects at first use. `place`: see {@link describingAs}. */
  constructor(address: MysqlAddress, place: string) {
    this.#options = { ...address.connection, ...tlsOptions(address) };
    this.#place = place;
    // Only the server knows which collation distinguishes all texts.
    this.#dialect = describingAs(mysqlDialect('utf8mb4_bin'), place);
  }

  /** The database must be there: an administrator makes it. */
  async isThere(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  async checkPlace(): Promise<string> {
    return 'The database is there';
  }

  /** An administrator makes databases; what the tables are made of is known once the server has answered. */
  async make(): Promise<void> {
    await this.isThere();
  }

  get dialect(): Dialect {
    return this.#dialect;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }

  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]> {
    return this.#inTurn(async () => (await this.#connected()).query(sql, params));
  }

  run(sql: string, params?: readonly Param[]): Promise<number> {
    return this.#inTurn(async () => (await this.#connected()).run(sql, params));
  }

  /** A statement that makes a table, column or view commits everything before it; a new transaction begins after it. */
  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const session = await this.#connected();
      try {
        await session.begin();
        const result = await work(session);
        await session.end('COMMIT');
        return result;
      } catch (error) {
        await session.end('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  async lock(name: string): Promise<AsyncDisposable | null> {
    // A connection that was lost is made again first: the locks went with it.
    await this.query('DO 1').catch((error: unknown) => {
      throw this.dialect.describe(error);
    });
    if (this.#locks.has(name)) return null;
    const locks = this.#locks;
    locks.add(name);
    const key = this.#lockName(`form ${name}`);
    try {
      const [row] = await this.query('SELECT GET_LOCK($1, 0) AS mine', [key]);
      if (row?.['mine'] !== '1') {
        locks.delete(name);
        return null;
      }
    } catch (error) {
      locks.delete(name);
      throw this.dialect.describe(error);
    }
    return {
      [Symbol.asyncDispose]: async () => {
        // The server has released one that was lost with its connection.
        if (locks !== this.#locks || !locks.delete(name)) return;
        await this.query('DO RELEASE_LOCK($1)', [key]).catch(() => {});
      },
    };
  }

  async snapshot(): Promise<Session & AsyncDisposable> {
    try {
      const session = await MysqlSession.open(this.#options, this.#lockName('tables'));
      await session.run('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await session.run('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
      return Object.assign(session, { [Symbol.asyncDispose]: () => session.close() });
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  /** Deleted answers stay in the files until the server reuses the space; `docs/privacy.md` says what to do. */
  async scrub(): Promise<void> {}

  async settle(): Promise<void> {}

  /** Names of locks are known to the whole server, and have at most 64 characters. */
  #lockName(what: string): string {
    const digest = createHash('sha256').update(`${this.#options.database}\0${what}`).digest('hex');
    return `forms-mirror:${digest.slice(0, 48)}`;
  }

  async #connected(): Promise<MysqlSession> {
    if (this.#session?.isLost === false) return this.#session;
    this.#locks = new Set();
    this.#session = await MysqlSession.open(this.#options, this.#lockName('tables'));
    this.#dialect = describingAs(mysqlDialect(this.#session.collation), this.#place);
    return this.#session;
  }

  /** One after the other: this connection has one transaction at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}
