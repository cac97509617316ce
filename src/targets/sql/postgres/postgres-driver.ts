import { Client, type ClientBase, type ClientConfig, Pool } from 'pg';
import { copyIn } from './postgres-copy-in.ts';
import { LOCK_TIMEOUT } from './postgres-locks.ts';

/** A statement as pg takes it. */
export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
  readonly rowMode?: 'array';
  readonly query_timeout?: number;
  readonly types?: { getTypeParser(): (value: string) => string };
}

/** What we use of a result. */
export interface PostgresResult {
  readonly rows: unknown[];
  readonly command?: string;
}

/** What we use of pg.Client; the tests put PGlite behind it. */
export interface PostgresClient {
  connect(): Promise<unknown>;
  /** Sent at once, and run once what was asked before has been: nobody has to wait for that one's answer. */
  query(query: PostgresQuery): Promise<PostgresResult>;
  /** Runs statements of which one is a COPY … FROM STDIN, which takes these texts; how many rows it stored. */
  copy(sql: string, texts: Iterable<string>, timeoutMs: number): Promise<number>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<unknown>;
}

/** Makes connections. */
export interface PostgresDriver {
  /** A connection for writing; the caller connects and ends it. */
  client(): PostgresClient;
  /** A pool for reading. Reconnects by itself. */
  readonly pool: {
    query(query: PostgresQuery): Promise<PostgresResult>;
    end(): Promise<unknown>;
  };
}

/** Connections for reading; they close when they have nothing to do. */
const POOL_SIZE = 5;
/** How long connecting may take, and how long an idle connection is kept, in ms. */
const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Idle time before the first TCP keepalive probe, in ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;
const READER_SETTINGS = `SET lock_timeout = '${LOCK_TIMEOUT}'`;

function setUp(client: ClientBase, done: (error?: Error) => void): void {
  const query: PostgresQuery = { text: READER_SETTINGS, query_timeout: CONNECT_TIMEOUT_MS };
  client.query(query, (error: Error | null) => done(error ?? undefined));
}

/** The driver for a real server. */
export function postgresDriver(connectionString: string): PostgresDriver {
  const config: ClientConfig = {
    connectionString,
    application_name: 'forms-mirror',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
  const pool = new Pool({
    ...config,
    max: POOL_SIZE,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // There are few of them: none waits longer for a table that somebody has locked than a writer does.
    verify: setUp,
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', () => {});
  return {
    pool: { query: (query) => pool.query(query), end: () => pool.end() },
    client: () => {
      const client = new Client({ ...config, pipeline: true });
      return {
        connect: () => client.connect(),
        query: (query) => client.query(query),
        copy: (sql, texts, timeoutMs) => copyIn(client, sql, texts, timeoutMs),
        on: (event, listener) => client.on(event, listener),
        end: () => client.end(),
      };
    },
  };
}
