import { type ConnectionOptions, createConnection, createPool, type FieldPacket } from 'mysql2';
import { safeError } from './mysql-errors.ts';

/** What one statement answers. Values are texts as the server writes them, so that numbers keep all their digits. */
export interface MysqlAnswer {
  readonly names: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Rows that it changed: not those that it found to be as they are to become. */
  readonly affected: number;
  /** Of an INSERT of several rows, how many that were there already it changed: a trigger or a versioned table does so. */
  readonly changedThere: number;
}

/** What we use of a connection. Rejects with `MysqlError`s and errors of the network. */
export interface MysqlClient {
  /** Runs one or more statements; an answer for each. */
  ask(sql: string, timeoutMs: number): Promise<readonly MysqlAnswer[]>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Says goodbye. */
  end(): Promise<void>;
  /** Hangs up. */
  destroy(): void;
}

/** Makes connections. */
export interface MysqlDriver {
  /** A connection for writing, open; the caller ends it. */
  connect(): Promise<MysqlClient>;
  /** Connections for reading, each begun with `settings`; they reconnect by themselves. */
  pool(settings: string): MysqlPool;
}

/** Connections for reading. */
export interface MysqlPool {
  ask(sql: string, timeoutMs: number): Promise<readonly MysqlAnswer[]>;
  end(): Promise<void>;
}

/** Connections for reading; they close when they have nothing to do. */
const POOL_SIZE = 5;
/** How long connecting may take, and how long an idle connection is kept, in ms. */
const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Idle time before the first TCP keepalive probe, in ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The driver for a real server. */
export function mysqlDriver(place: ConnectionOptions): MysqlDriver {
  const config: ConnectionOptions = {
    ...place,
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_AFTER_MS,
    multipleStatements: true,
    // Affected rows are those that changed; and no server may ask for files of ours.
    flags: ['-FOUND_ROWS', '-LOCAL_FILES'],
  };
  return {
    connect: () =>
      new Promise((done, failed) => {
        const connection = createConnection(config);
        connection.once('error', (error) => failed(safeError(error)));
        connection.connect((error) => {
          if (error !== null) return failed(safeError(error));
          return done({
            ask: (sql, timeoutMs) =>
              asking((asked) => connection.query(query(sql, timeoutMs), asked)),
            on: (event, listener) =>
              connection.on(event, (problem) => listener(safeError(problem))),
            end: () => new Promise((ended) => connection.end(() => ended())),
            destroy: () => connection.destroy(),
          });
        });
      }),
    pool(settings) {
      const pool = createPool({
        ...config,
        connectionLimit: POOL_SIZE,
        maxIdle: POOL_SIZE,
        idleTimeout: IDLE_TIMEOUT_MS,
      });
      // Before whatever it was made for.
      pool.on('connection', (connection) => {
        connection.query(settings, () => {});
        // An idle connection that breaks is replaced at the next use.
        connection.on('error', () => {});
      });
      return {
        ask: (sql, timeoutMs) => asking((asked) => pool.query(query(sql, timeoutMs), asked)),
        end: () => new Promise((ended) => pool.end(() => ended())),
      };
    },
  };
}

const query = (sql: string, timeout: number) =>
  ({ sql, timeout, rowsAsArray: true, typeCast: false }) as const;

type Asked = (error: Error | null, results: unknown, fields: unknown) => void;

function asking(ask: (asked: Asked) => unknown): Promise<readonly MysqlAnswer[]> {
  return new Promise((done, failed) => {
    try {
      ask((error, results, fields) =>
        error === null ? done(answersOf(results, fields)) : failed(safeError(error)),
      );
    } catch (error) {
      failed(safeError(error));
    }
  });
}

/** mysql2 gives a list of results for several statements, and the result itself for one. */
function answersOf(results: unknown, fields: unknown): MysqlAnswer[] {
  const isSeveral =
    Array.isArray(fields) && fields.some((one) => one === undefined || Array.isArray(one));
  return isSeveral
    ? (results as unknown[]).map((result, nth) => answerOf(result, (fields as unknown[])[nth]))
    : [answerOf(results, fields)];
}

function answerOf(result: unknown, fields: unknown): MysqlAnswer {
  if (!Array.isArray(result)) {
    const { affectedRows, info = '' } = result as { affectedRows: number; info?: string };
    const changedThere = Number(/Duplicates: (\d+)/.exec(info)?.[1] ?? 0);
    return { names: [], rows: [], affected: affectedRows, changedThere };
  }
  return {
    names: (fields as FieldPacket[]).map(({ name }) => name),
    rows: (result as (Buffer | null)[][]).map((row) =>
      row.map((value) => (value === null ? null : value.toString())),
    ),
    affected: 0,
    changedThere: 0,
  };
}
