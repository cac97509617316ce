import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import type { PostgresClient, PostgresQuery, PostgresResult } from './postgres-driver.ts';

/** How long to wait for the server. A network that went silent is noticed by this alone. */
export interface PostgresTimeouts {
  readonly answerMs: number;
  /** The same for statements that may rewrite a whole table. */
  readonly rewriteMs: number;
  /** How long saying goodbye may take. */
  readonly closeMs: number;
}

/** Long enough for a busy server, short enough for the next pass. */
export const DEFAULT_TIMEOUTS: PostgresTimeouts = {
  answerMs: 120_000,
  rewriteMs: 3_600_000,
  closeMs: 5_000,
};

/** Every value as the text that the server sends: numbers keep all their digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * What each connection for writing begins with. The server notices within a minute that we are gone and releases our
 * lock; nobody's long query holds us up for ever; a server that was told to lose commits does not lose ours; one that
 * was told to hang up on idle clients lets us wait for the source.
 */
const SETTINGS = [
  "SET lock_timeout = '30s'",
  'SET tcp_keepalives_idle = 30',
  'SET tcp_keepalives_interval = 10',
  'SET tcp_keepalives_count = 3',
  'SET jit = off',
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'",
].join('; ');

/** Where statements go that need no connection of their own. */
export function readingSession(
  query: (query: PostgresQuery) => Promise<PostgresResult>,
  timeouts: PostgresTimeouts,
): SqlSession {
  const timeoutOf = (text: string): number =>
    /^\s*(?:ALTER|CREATE|UPDATE)\b/i.test(text) ? timeouts.rewriteMs : timeouts.answerMs;
  const ask = (text: string, values: readonly SqlValue[] = [], rowMode?: 'array') =>
    query({
      text,
      values: [...values],
      types: AS_TEXT,
      query_timeout: timeoutOf(text),
      ...(rowMode === undefined ? {} : { rowMode }),
    });
  return {
    query: async (text, values) => (await ask(text, values)).rows as SqlRow[],
    queryArrays: async (text, values) => (await ask(text, values, 'array')).rows as unknown[][],
    exec: async (text) => {
      await query({ text, query_timeout: timeoutOf(text) });
    },
  };
}

/** A connection of our own, with its settings made. */
export class PostgresConnection implements SqlConnection {
  readonly #client: PostgresClient;
  readonly #session: SqlSession;
  readonly #timeouts: PostgresTimeouts;
  #turn: Promise<unknown> = Promise.resolve();
  #broken: Error | undefined;

  private constructor(client: PostgresClient, timeouts: PostgresTimeouts) {
    this.#client = client;
    this.#timeouts = timeouts;
    this.#session = readingSession((query) => this.#ask(query), timeouts);
    // Between two statements a lost connection shows only here; the next statement reports it.
    client.on('error', (error) => (this.#broken = error));
  }

  /** Connects. Rejects with the driver's error. */
  static async open(
    client: PostgresClient,
    timeouts: PostgresTimeouts,
  ): Promise<PostgresConnection> {
    const connection = new PostgresConnection(client, timeouts);
    try {
      await client.connect();
      await connection.exec(SETTINGS);
      return connection;
    } catch (error) {
      await connection.#end();
      throw error;
    }
  }

  query(sql: string, params?: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#inTurn(() => this.#session.query(sql, params));
  }

  queryArrays(sql: string, params?: readonly SqlValue[]): Promise<unknown[][]> {
    return this.#inTurn(() => this.#session.queryArrays(sql, params));
  }

  exec(sql: string): Promise<void> {
    return this.#inTurn(() => this.#session.exec(sql));
  }

  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#session.exec('BEGIN ISOLATION LEVEL READ COMMITTED');
      let result: T;
      try {
        result = await work(this.#session);
      } catch (error) {
        // When this fails, the connection is gone and the server has rolled back.
        await this.#session.exec('ROLLBACK').catch(() => {});
        throw error;
      }
      const { command } = await this.#ask({
        text: 'COMMIT',
        query_timeout: this.#timeouts.answerMs,
      });
      // A transaction that failed without our noticing answers COMMIT with ROLLBACK.
      if (command === 'ROLLBACK') throw new Error('the server rolled back instead of committing');
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    await this.#end();
  }

  /** In a silent network nobody answers a goodbye. */
  async #end(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.#timeouts.closeMs);
    await Promise.race([this.#client.end().catch(() => {}), late.promise]);
    clearTimeout(timer);
  }

  async #ask(query: PostgresQuery): Promise<PostgresResult> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      return await this.#client.query(query);
    } catch (error) {
      // The answer of a statement that timed out would be taken for that of the next one.
      if (error instanceof Error && error.message === 'Query read timeout') this.#broken = error;
      throw error;
    }
  }

  /** One transaction at a time; other statements would land in the middle of it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.catch(() => {}).then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}
