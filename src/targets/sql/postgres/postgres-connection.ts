import { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { systemClock, withinTime } from '../../../base/clock.ts';
import { type Connection, type Driver, GOODBYE_MS, lockName, lockSession } from '../database.ts';
import { columnsOfEach, type Param, quoted, type SqlRow } from '../dialect.ts';
import { LOCK_TIMEOUT, postgresDialect } from './postgres-dialect.ts';

/** Values stay the text that the server sends, so numbers keep all their digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };
const CONNECT_LIMIT_MS = 10_000;
/** Only this notices a network that silently drops packets. */
const ANSWER_LIMIT_MS = 600_000;

/**
 * Settings of the connection. The server notices within a minute that this process is gone, and releases its locks. Waiting for a
 * person's lock ends soon: while a new column waits for a person's transaction, all other readers of the table wait for it. A commit
 * is durable even if the server's default says otherwise.
 */
const SETTINGS = `SET lock_timeout = '${LOCK_TIMEOUT}'; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;
  SET jit = off; SET client_min_messages = warning; SET timezone = 'UTC'; SET datestyle = 'ISO';
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'`;

/** A schema of a PostgreSQL database. `url`: for the driver, with the password. */
export const postgresDriver = (url: string, schema: string): Driver => ({
  dialect: postgresDialect,
  connect: () => PostgresConnection.open(url, schema),
  place: {
    async isThere(session) {
      const found = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      return found.length > 0;
    },
    async make(session) {
      await session.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
    },
  },
});

/** A session of a server. */
export class PostgresConnection implements Connection {
  readonly dialect = postgresDialect;
  readonly #client: pg.Client;
  readonly #socket = new Socket();
  readonly #schema: string;
  readonly #locks = new Set<string>();
  #isLost = false;

  private constructor(url: string, schema: string) {
    this.#client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: ANSWER_LIMIT_MS,
      stream: () => this.#socket,
    });
    this.#schema = schema;
    const lose = (): void => void (this.#isLost = true);
    // The next statement reports it.
    this.#client.on('error', lose);
    this.#client.on('end', lose);
  }

  static async open(url: string, schema: string): Promise<PostgresConnection> {
    const connection = new PostgresConnection(url, schema);
    try {
      await connection.#client.connect();
      await connection.#client.query(`${SETTINGS}; SET search_path = ${quoted(schema)}`);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  async query(sql: string, params: readonly Param[] = []): Promise<SqlRow[]> {
    const values = params.map(bound);
    const result = await this.#client.query({ text: sql, values, types: AS_TEXT });
    return result.rows as SqlRow[];
  }

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    const { rowCount } = await this.#client.query(sql, params.map(bound));
    return rowCount ?? 0;
  }

  /** Runs a COPY … FROM STDIN. */
  async copy(sql: string, parts: Iterable<Buffer>): Promise<void> {
    await pipeline(parts, this.#client.query(copyFrom(sql)));
  }

  async begin(): Promise<void> {
    await this.run('BEGIN');
  }

  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await this.run(how);
  }

  async freeze(): Promise<void> {
    await this.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }

  lock(name: string): Promise<(() => Promise<void>) | null> {
    return lockSession(this, this.#locks, lockName(this.#schema, name), {
      take: 'pg_try_advisory_lock(hashtextextended($1, 0))',
      give: 'pg_advisory_unlock(hashtextextended($1, 0))',
    });
  }

  /** Statistics quote frequent and extreme values. */
  async scrub(tables: readonly string[]): Promise<void> {
    for (const [table, { size }] of await columnsOfEach(this, tables))
      if (size > 0) await this.run(`ANALYZE ${quoted(table)}`);
  }

  async close(): Promise<void> {
    const ended = this.#client.end().catch(() => {});
    await withinTime(ended, GOODBYE_MS, systemClock);
    this.#socket.destroy();
  }
}

/** Binds a list as JSON. */
function bound(param: Param): string | number | null {
  if (typeof param === 'bigint') return param.toString();
  return typeof param === 'object' && param !== null ? JSON.stringify(param) : param;
}
