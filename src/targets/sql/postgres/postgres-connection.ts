import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import type { PostgresClient, PostgresQuery, PostgresResult } from './postgres-driver.ts';

/** How long an answer may take. A network that went silent is noticed by this. */
const ANSWER_TIMEOUT_MS = 120_000;
/** The same for statements that may rewrite a whole table. */
const REWRITE_TIMEOUT_MS = 3_600_000;

/** Every value as the text that the server sends: numbers keep all their digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * What each connection for writing begins with. The server notices within a minute that we are gone and releases our
 * lock; nobody's long query holds us up for ever; a server that was told to lose commits does not lose ours.
 */
const SETTINGS = [
  "SET lock_timeout = '30s'",
  'SET tcp_keepalives_idle = 30',
  'SET tcp_keepalives_interval = 10',
  'SET tcp_keepalives_count = 3',
  'SET jit = off',
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
].join('; ');

/** Where statements go that need no connection of their own. */
export function readingSession(
  query: (query: PostgresQuery) => Promise<PostgresResult>,
): SqlSession {
  return {
    query: async (text, values) => rowsOf(await query(statement(text, values))) as SqlRow[],
    queryArrays: async (text, values) =>
      rowsOf(await query({ ...statement(text, values), rowMode: 'array' })) as unknown[][],
    exec: async (text) => {
      await query({ text, query_timeout: timeoutOf(text) });
    },
  };
}

/** A connection of our own, with its settings made. */
export class PostgresConnection implements SqlConnection {
  readonly #client: PostgresClient;
  readonly #session: SqlSession;
  #turn: Promise<unknown> = Promise.resolve();
  #broken: Error | undefined;

  private constructor(client: PostgresClient) {
    this.#client = client;
    this.#session = readingSession((query) => this.#ask(query));
    // Between two statements a lost connection shows only here; the next statement reports it.
    client.on('error', (error) => (this.#broken = error));
  }

  /** Connects. Rejects with the driver's error. */
  static async open(client: PostgresClient): Promise<PostgresConnection> {
    const connection = new PostgresConnection(client);
    try {
      await client.connect();
      await connection.exec(SETTINGS);
      return connection;
    } catch (error) {
      await client.end().catch(() => {});
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
      await this.#session.exec('BEGIN');
      let result: T;
      try {
        result = await work(this.#session);
      } catch (error) {
        // When this fails, the connection is gone and the server has rolled back.
        await this.#session.exec('ROLLBACK').catch(() => {});
        throw error;
      }
      const { command } = await this.#ask({ text: 'COMMIT', query_timeout: ANSWER_TIMEOUT_MS });
      // A transaction that failed without our noticing answers COMMIT with ROLLBACK.
      if (command === 'ROLLBACK') throw new Error('the server rolled back instead of committing');
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    await this.#client.end().catch(() => {});
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

function statement(text: string, values: readonly SqlValue[] = []): PostgresQuery {
  return { text, values: [...values], types: AS_TEXT, query_timeout: timeoutOf(text) };
}

const timeoutOf = (text: string): number =>
  /^\s*(?:ALTER|CREATE|UPDATE)\b/i.test(text) ? REWRITE_TIMEOUT_MS : ANSWER_TIMEOUT_MS;

/** Of several statements in one text pg answers with several results; only single ones are read. */
const rowsOf = (result: PostgresResult): unknown[] => result.rows;
