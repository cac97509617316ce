import { systemClock } from '../../../base/clock.ts';
import { errorCode } from '../../../base/error-code.ts';
import { withinTime } from '../../../base/deadline.ts';
import type { SqlConnection, SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import type { MysqlAnswer, MysqlClient } from './mysql-driver.ts';
import {
  type Ask,
  LOCK_TIMEOUT_S,
  MysqlSession,
  type MysqlServer,
  type MysqlTimeouts,
} from './mysql-session.ts';

/**
 * Settings of each connection. The modes make names in `"…"` and texts mean what they mean in other products, and refuse
 * what does not fit instead of changing it. Times are in UTC.
 */
const MODES = [
  'ANSI_QUOTES',
  'PIPES_AS_CONCAT',
  'NO_BACKSLASH_ESCAPES',
  'STRICT_ALL_TABLES',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
];

/** The settings as one statement, so that a pool can send it before anything else. */
export const settingsFor = ({ collation, isMariaDb }: MysqlServer): string =>
  [`SET NAMES utf8mb4 COLLATE ${collation}`, SETTINGS, ...(isMariaDb ? [VERSIONING] : [])].join(
    '; ',
  );

const SETTINGS = `SET SESSION sql_mode = '${MODES.join(',')}', time_zone = '+00:00', autocommit = 1,
  lock_wait_timeout = ${LOCK_TIMEOUT_S}, innodb_lock_wait_timeout = ${LOCK_TIMEOUT_S},
  group_concat_max_len = 1000000, sql_safe_updates = 0, sql_select_limit = 18446744073709551615;
  SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`;

/** Lets a table that people gave system versioning take new columns: MariaDB refuses that otherwise. */
const VERSIONING = 'SET SESSION system_versioning_alter_history = KEEP';

const WHO = 'SELECT VERSION(), @@max_allowed_packet';

/** What there is to know of a server, asked on a connection to it. */
export async function serverOf(ask: Ask, timeoutMs: number): Promise<MysqlServer> {
  const [answer] = await ask(WHO, timeoutMs);
  const [version = '', packet] = answer?.rows[0] ?? [];
  const isMariaDb = /mariadb/i.test(version ?? '');
  return {
    version: version ?? '',
    isMariaDb,
    collation: isMariaDb ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin',
    maxPacket: Number(packet ?? 1_048_576),
  };
}

/** A dedicated connection with its settings applied. */
export class MysqlConnection implements SqlConnection {
  readonly #client: MysqlClient;
  readonly #timeouts: MysqlTimeouts;
  readonly #session: MysqlSession;
  readonly #guard: { broken: Error | undefined };
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    client: MysqlClient,
    session: MysqlSession,
    timeouts: MysqlTimeouts,
    guard: { broken: Error | undefined },
  ) {
    this.#client = client;
    this.#session = session;
    this.#timeouts = timeouts;
    this.#guard = guard;
  }

  /** Connects. Rejects with the driver's error. */
  static async open(
    connect: () => Promise<MysqlClient>,
    timeouts: MysqlTimeouts,
  ): Promise<MysqlConnection> {
    const client = await connect();
    const guard: { broken: Error | undefined } = { broken: undefined };
    // A connection lost between two statements is noticed only here; the next statement reports it.
    client.on('error', (error) => (guard.broken = error));
    const ask = async (sql: string, timeoutMs: number): Promise<readonly MysqlAnswer[]> => {
      if (guard.broken !== undefined) throw guard.broken;
      try {
        return await client.ask(sql, timeoutMs);
      } catch (error) {
        // The answer of a statement that timed out would be taken for that of the next one.
        if (isTimeout(error)) guard.broken = error;
        throw error;
      }
    };
    try {
      const server = await serverOf(ask, timeouts.answerMs);
      await ask(settingsFor(server), timeouts.answerMs);
      const session = new MysqlSession(ask, server, timeouts);
      return new MysqlConnection(client, session, timeouts, guard);
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  get server(): MysqlServer {
    return this.#session.server;
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

  /** A statement that changes tables commits what was done before it: see {@link SqlDialect.stepwise}. */
  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#session.begin();
      let result: T;
      try {
        result = await work(this.#session);
      } catch (error) {
        // When this fails, the connection is gone and the server has rolled back.
        await this.#session.end('ROLLBACK').catch(() => {});
        throw error;
      }
      await this.#session.end('COMMIT');
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {});
    // What is not heard, because the network drops packets, is not waited for.
    const goodbye = this.#guard.broken === undefined ? this.#client.end() : Promise.resolve();
    await withinTime(goodbye, this.#timeouts.closeMs, systemClock);
    this.#client.destroy();
  }

  /** One transaction at a time: other statements would become part of it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.catch(() => {}).then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

const isTimeout = (error: unknown): error is Error =>
  error instanceof Error && errorCode(error) === 'PROTOCOL_SEQUENCE_TIMEOUT';
