import { systemClock } from '../../../base/clock.ts';
import { withinTime } from '../../../base/deadline.ts';
import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import type { PostgresClient, PostgresQuery, PostgresResult } from './postgres-driver.ts';
import { LOCK_TIMEOUT, PATIENT } from './postgres-locks.ts';

/** How long to wait for the server, in ms. Nothing else notices a network that drops packets silently. */
export interface PostgresTimeouts {
  readonly answerMs: number;
  /** The same for statements that may rewrite a whole table. */
  readonly rewriteMs: number;
  /** How long closing may take. */
  readonly closeMs: number;
}

/** Long enough for a busy server, short enough for the next pass. */
export const DEFAULT_TIMEOUTS: PostgresTimeouts = {
  answerMs: 120_000,
  rewriteMs: 3_600_000,
  closeMs: 5_000,
};

/** Values stay the text that the server sends: numbers keep all their digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * Settings of each connection for writing. The server notices within a minute that this process is gone and releases its
 * lock; waiting for a lock of another session ends; commits are durable even where the server's default is otherwise; the
 * connection survives idle periods while the source is read.
 */
const SETTINGS = [
  `SET lock_timeout = '${LOCK_TIMEOUT}'`,
  'SET tcp_keepalives_idle = 30',
  'SET tcp_keepalives_interval = 10',
  'SET tcp_keepalives_count = 3',
  'SET jit = off',
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'",
].join('; ');

/** A session for statements that need no dedicated connection. */
export function readingSession(
  query: (query: PostgresQuery) => Promise<PostgresResult>,
  timeouts: PostgresTimeouts,
): SqlSession {
  const timeoutOf = (text: string): number =>
    text.startsWith(PATIENT) || /^\s*(?:ALTER|CREATE|UPDATE)\b/i.test(text)
      ? timeouts.rewriteMs
      : timeouts.answerMs;
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

type CopyingSession = SqlSession & Required<Pick<SqlSession, 'copy'>>;

/** A dedicated connection with its settings applied. */
export class PostgresConnection implements SqlConnection {
  readonly #client: PostgresClient;
  readonly #session: CopyingSession;
  readonly #timeouts: PostgresTimeouts;
  #turn: Promise<unknown> = Promise.resolve();
  /** A COPY on its way: what is sent before its end would be taken for a part of it. */
  #copying: Promise<unknown> = Promise.resolve();
  /** How long the answers that are outstanding may take together. */
  #outstandingMs = 0;
  #broken: Error | undefined;

  private constructor(client: PostgresClient, timeouts: PostgresTimeouts) {
    this.#client = client;
    this.#timeouts = timeouts;
    this.#session = {
      ...readingSession((query) => this.#ask(query), timeouts),
      copy: (sql, texts) => this.#copy(sql, texts),
    };
    // A connection lost between two statements is noticed only here; the next statement reports it.
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
      const transaction = new PostgresTransaction(this.#session);
      let result: T;
      try {
        result = await work(transaction);
        transaction.throwFailure();
      } catch (error) {
        // When this fails, the connection is gone and the server has rolled back.
        await this.#session.exec('ROLLBACK').catch(() => {});
        throw error;
      }
      const { command } = await transaction.after(
        this.#ask({ text: 'COMMIT', query_timeout: this.#timeouts.answerMs }),
      );
      // The server answers the COMMIT of a failed transaction with ROLLBACK, not with an error.
      if (command === 'ROLLBACK') throw new Error('the server rolled back instead of committing');
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    await this.#end();
  }

  /** Ends without an answer of the server when the network drops packets. */
  async #end(): Promise<void> {
    const ended = this.#client.end().catch(() => {});
    await withinTime(ended, this.#timeouts.closeMs, systemClock);
  }

  #ask(query: PostgresQuery): Promise<PostgresResult> {
    return this.#guarded(async () => {
      await this.#copying;
      // Its time begins when the server comes to it, and the driver counts from now.
      const ownMs = query.query_timeout ?? this.#timeouts.answerMs;
      this.#outstandingMs += ownMs;
      try {
        return await this.#client.query({ ...query, query_timeout: this.#outstandingMs });
      } finally {
        this.#outstandingMs -= ownMs;
      }
    });
  }

  #copy(sql: string, texts: Iterable<string>): Promise<number> {
    const before = this.#copying;
    const copied = this.#guarded(async () => {
      await before;
      return this.#client.copy(sql, texts, this.#timeouts.answerMs);
    });
    this.#copying = copied.catch(() => {});
    return copied;
  }

  async #guarded<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      return await ask();
    } catch (error) {
      // The answer of a statement that timed out would be taken for that of the next one.
      if (error instanceof Error && error.message === 'Query read timeout') this.#broken = error;
      throw error;
    }
  }

  /** One transaction at a time: other statements would become part of it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.catch(() => {}).then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

/** The statements of a transaction: each is sent behind those before it, whether these have been answered or not. */
class PostgresTransaction implements CopyingSession {
  readonly #session: CopyingSession;
  /** Settles with the last answer to what was sent without waiting. */
  #sent: Promise<unknown> = Promise.resolve();
  /** What the first of them failed with. */
  #failure: { readonly error: unknown } | undefined;

  constructor(session: CopyingSession) {
    this.#session = session;
  }

  query(sql: string, params?: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.after(this.#session.query(sql, params));
  }

  queryArrays(sql: string, params?: readonly SqlValue[]): Promise<unknown[][]> {
    return this.after(this.#session.queryArrays(sql, params));
  }

  exec(sql: string): Promise<void> {
    return this.after(this.#session.exec(sql));
  }

  copy(sql: string, texts: Iterable<string>): Promise<number> {
    return this.after(this.#session.copy(sql, texts));
  }

  send(sql: string, params?: readonly SqlValue[]): void {
    const answered = this.#session.query(sql, params).catch((error: unknown) => {
      this.#failure ??= { error };
    });
    this.#sent = Promise.all([this.#sent, answered]);
  }

  /** The answer to what was asked last; fails with what was sent before it, which is the cause where both fail. */
  async after<T>(asked: Promise<T>): Promise<T> {
    const sent = this.#sent;
    try {
      return await asked;
    } finally {
      await sent;
      this.throwFailure();
    }
  }

  /** A savepoint may have made the transaction whole again: what has failed must not be missing from what is committed. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
