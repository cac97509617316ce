import { once } from 'node:events';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type Database,
  describingAs,
  type Dialect,
  type Param,
  quoted,
  type Session,
  type SqlRow,
} from '../database.ts';
import type { PostgresAddress } from './postgres-address.ts';
import { postgresDialect } from './postgres-dialect.ts';
import type { CopyingSession } from './postgres-upsert.ts';

/** Values stay the text that the server sends: numbers keep all their digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };
/** Nothing else notices a network that drops packets silently. */
const ANSWER_LIMIT_MS = 600_000;

/**
 * Settings of the connection. The server notices within a minute that this process is gone, and gives its locks back; waiting for
 * a person's lock ends; a commit is durable also where the server's default is otherwise.
 */
const SETTINGS = `SET lock_timeout = '30s'; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
  SET jit = off; SET client_min_messages = warning; SET timezone = 'UTC'; SET datestyle = 'ISO';
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'`;

/** A connection to PostgreSQL, in one schema, made again after it was lost. Locks are lost with it: then revisions keep writers apart. */
export class PostgresDatabase implements Database {
  readonly dialect: Dialect;
  readonly #connectionString: string;
  readonly #schema: string;
  #client: pg.Client | undefined;
  /** Locks that this process has: a session may take the same one twice. */
  #locks = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  /** Connects at first use. `place`: see {@link describingAs}. */
  constructor({ connectionString, schema }: PostgresAddress, place: string) {
    [this.#connectionString, this.#schema] = [connectionString, schema];
    this.dialect = describingAs(postgresDialect, place);
  }

  async isThere(): Promise<boolean> {
    try {
      const found = await this.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [
        this.#schema,
      ]);
      return found.length > 0;
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  async checkPlace(): Promise<string> {
    try {
      const [row] = await this.query(
        "SELECT has_database_privilege(current_database(), 'CREATE') AS may",
      );
      if (row?.['may'] === 't')
        return `The schema ${this.#schema} does not exist yet; it can be made`;
    } catch (error) {
      throw this.dialect.describe(error);
    }
    throw this.dialect.describe(Object.assign(new Error('no right'), { code: '42501' }));
  }

  async make(): Promise<void> {
    try {
      // A user without the right to make schemas can use an existing one.
      if (!(await this.isThere()))
        await this.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(this.#schema)}`);
    } catch (error) {
      throw this.dialect.describe(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turn;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  query(sql: string, params?: readonly Param[]): Promise<SqlRow[]> {
    return this.#inTurn(async () => (await this.#session()).query(sql, params));
  }

  run(sql: string, params?: readonly Param[]): Promise<number> {
    return this.#inTurn(async () => (await this.#session()).run(sql, params));
  }

  transaction<T>(work: (tx: Session) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const session = await this.#session();
      await session.run('BEGIN');
      try {
        const result = await work(session);
        await session.run('COMMIT');
        return result;
      } catch (error) {
        await session.run('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  async lock(name: string): Promise<AsyncDisposable | null> {
    const key = `${this.#schema}\0${name}`;
    if (this.#locks.has(key)) return null;
    const locks = this.#locks;
    locks.add(key);
    const number = createHash('sha256').update(key).digest().readBigInt64BE();
    try {
      const [row] = await this.query('SELECT pg_try_advisory_lock($1) AS mine', [number]);
      if (row?.['mine'] !== 't') {
        locks.delete(key);
        return null;
      }
    } catch (error) {
      locks.delete(key);
      throw this.dialect.describe(error);
    }
    return {
      [Symbol.asyncDispose]: async () => {
        // The server has released one that was lost with its connection.
        if (locks !== this.#locks || !locks.delete(key)) return;
        await this.query('SELECT pg_advisory_unlock($1)', [number]).catch(() => {});
      },
    };
  }

  async snapshot(): Promise<Session & AsyncDisposable> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      query_timeout: ANSWER_LIMIT_MS,
    });
    client.on('error', () => {}); // The next statement reports it.
    try {
      await this.#begin(client);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    } catch (error) {
      await client.end().catch(() => {});
      throw this.dialect.describe(error);
    }
    return Object.assign(sessionOn(client), {
      [Symbol.asyncDispose]: () => client.end().catch(() => {}),
    });
  }

  /** Deleted answers stay in the files until the server reuses the space; `docs/privacy.md` says what to do. */
  async scrub(): Promise<void> {}

  async settle(): Promise<void> {}

  async #session(): Promise<CopyingSession> {
    const client = (this.#client ??= await this.#connect());
    return sessionOn(client);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      query_timeout: ANSWER_LIMIT_MS,
    });
    const lose = (): void => {
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#locks = new Set();
    };
    client.on('error', lose);
    client.on('end', lose);
    await this.#begin(client);
    return client;
  }

  async #begin(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query(SETTINGS);
    await client.query(`SET search_path = ${quoted(this.#schema)}`);
  }

  /** One after the other: this connection has one transaction at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}

/** A list is bound as JSON. */
const bound = (params: readonly Param[]): (string | number | null)[] =>
  params.map((param) => {
    if (typeof param === 'bigint') return param.toString();
    return typeof param === 'object' && param !== null ? JSON.stringify(param) : param;
  });

function sessionOn(client: pg.Client): CopyingSession {
  return {
    async query(sql, params = []) {
      const result = await client.query({ text: sql, values: bound(params), types: AS_TEXT });
      return result.rows as SqlRow[];
    },
    async run(sql, params = []) {
      const result =
        params.length > 0
          ? await client.query({ text: sql, values: bound(params), types: AS_TEXT })
          : await client.query(sql);
      return result.rowCount ?? 0;
    },
    async copy(sql, parts) {
      const stream = client.query(copyFrom(sql));
      const done = once(stream, 'finish');
      // It is waited for below.
      done.catch(() => {});
      for (const part of parts)
        if (!stream.write(part)) await Promise.race([once(stream, 'drain'), done]);
      stream.end();
      await done;
    },
  };
}
