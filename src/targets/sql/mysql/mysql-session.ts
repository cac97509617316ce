import type { SqlRow, SqlSession, SqlValue } from '../sql-session.ts';
import type { MysqlAnswer } from './mysql-driver.ts';
import { numberOfError, RowTooLarge } from './mysql-errors.ts';
import { translated } from './mysql-statement.ts';

/** How long to wait for the server, in ms. Nothing else notices a network that drops packets silently. */
export interface MysqlTimeouts {
  readonly answerMs: number;
  /** The same for statements that may rewrite a whole table, or wait for another writer. */
  readonly rewriteMs: number;
  /** How long closing may take. */
  readonly closeMs: number;
  /** After how long the server ends the connection of a stalled process that holds a form. */
  readonly leaseMs: number;
}

/** Long enough for a busy server, short enough for the next pass. */
export const DEFAULT_TIMEOUTS: MysqlTimeouts = {
  answerMs: 120_000,
  rewriteMs: 3_600_000,
  closeMs: 5_000,
  leaseMs: 600_000,
};

/** What is known of a server once one is connected to it. */
export interface MysqlServer {
  /** As it says it itself: `10.11.6-MariaDB`, `8.4.2`. */
  readonly version: string;
  readonly isMariaDb: boolean;
  /** A collation that tells all texts apart, by case, accents and spaces at their end. */
  readonly collation: string;
  /** Most bytes of a statement. */
  readonly maxPacket: number;
}

/** Runs statements; an answer for each. */
export type Ask = (sql: string, timeoutMs: number) => Promise<readonly MysqlAnswer[]>;

/** How long a statement waits for what another session has locked, in seconds; and making a view, which may be made later. */
export const LOCK_TIMEOUT_S = 30;
const HURRY_S = 1;

/** Statements that end the transaction they are in. */
const CHANGES_TABLES = /^\s*(?:CREATE|ALTER|DROP|RENAME|TRUNCATE)\b/i;
/** `SAVEPOINT … does not exist`, as after a statement of {@link CHANGES_TABLES}. */
const NO_SAVEPOINT = 1305;

/**
 * Where statements go, those of the shared SQL translated (mysql-statement.ts). In a transaction, a statement that changes
 * tables commits what was done before it, and what follows is in a transaction of its own.
 */
export class MysqlSession implements SqlSession {
  readonly #ask: Ask;
  readonly #timeouts: MysqlTimeouts;
  readonly server: MysqlServer;
  #isInTransaction = false;
  /** Whether the transaction was committed in the middle. */
  #isSplit = false;
  #isInHurry = false;
  /** Named locks that are released when the transaction ends. */
  #locks: readonly string[] = [];

  constructor(ask: Ask, server: MysqlServer, timeouts: MysqlTimeouts) {
    this.#ask = ask;
    this.server = server;
    this.#timeouts = timeouts;
  }

  async query(sql: string, params: readonly SqlValue[] = []): Promise<SqlRow[]> {
    const steps = translated(sql, params);
    switch (steps.kind) {
      case 'plain':
        return rowsOf(await this.#one(steps.sql));
      case 'returning': {
        const rows = rowsOf(await this.#one(steps.read));
        if (rows.length > 0) await this.#one(steps.write);
        return rows;
      }
      case 'upserting':
        await this.#one(steps.write);
        return rowsOf(await this.#one(steps.read));
      case 'inserting': {
        const answers = await this.write(steps.rows.map((row) => row.sql));
        return steps.rows
          .filter((_, nth) => answers[nth]?.affected === 1)
          .map((row) => row.returned);
      }
    }
  }

  async queryArrays(sql: string, params: readonly SqlValue[] = []): Promise<unknown[][]> {
    const steps = translated(sql, params);
    if (steps.kind !== 'plain') throw new TypeError('no plain statement');
    return (await this.#one(steps.sql)).rows.map((row) => row.slice());
  }

  async exec(sql: string): Promise<void> {
    const isChange = CHANGES_TABLES.test(sql);
    try {
      await this.#ask(isChange ? this.#asTable(sql) : sql, this.#timeouts.rewriteMs);
    } catch (error) {
      // The savepoint went with the part of the transaction that is committed.
      if (!this.#isSplit || numberOfError(error) !== NO_SAVEPOINT) throw error;
    } finally {
      if (isChange && this.#isInTransaction) await this.#goOn();
    }
  }

  /** Runs statements that change rows, in order and in one go; the answer of each. */
  async write(statements: readonly string[]): Promise<MysqlAnswer[]> {
    const answers: MysqlAnswer[] = [];
    for (const piece of this.#pieces(statements)) {
      answers.push(...(await this.#ask(piece.join(';\n'), this.#timeouts.rewriteMs)));
    }
    return answers;
  }

  /** Takes a named lock of the server until the transaction ends. False when another session keeps it for longer. */
  async lock(name: string, waitMs: number): Promise<boolean> {
    const [row] = await this.query('SELECT GET_LOCK($1, $2) AS locked', [name, waitMs / 1_000]);
    if (row?.['locked'] !== '1') return false;
    this.#locks = [...this.#locks, name];
    return true;
  }

  /** Until the transaction ends, tables that others use are not waited for. */
  async hurry(): Promise<void> {
    await this.exec(`SET SESSION lock_wait_timeout = ${HURRY_S}`);
    this.#isInHurry = true;
  }

  /** Begins a transaction; whoever calls it ends it. */
  async begin(): Promise<void> {
    await this.#ask('START TRANSACTION', this.#timeouts.answerMs);
    this.#isInTransaction = true;
    this.#isSplit = false;
  }

  /** Ends it, and releases the locks that were taken in it. */
  async end(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const locks = this.#locks;
    const patience = this.#isInHurry ? [`SET SESSION lock_wait_timeout = ${LOCK_TIMEOUT_S}`] : [];
    this.#isInHurry = false;
    this.#isInTransaction = false;
    this.#isSplit = false;
    this.#locks = [];
    const all = [how, ...locks.map(release), ...patience];
    await this.#ask(all.join(';\n'), this.#timeouts.answerMs);
  }

  async #goOn(): Promise<void> {
    this.#isSplit = true;
    await this.#ask('START TRANSACTION', this.#timeouts.answerMs);
  }

  async #one(sql: string): Promise<MysqlAnswer> {
    const isPatient = /^(?:UPDATE|DELETE|SELECT GET_LOCK)/.test(sql);
    const { answerMs, rewriteMs } = this.#timeouts;
    const [answer] = await this.#ask(sql, isPatient ? rewriteMs : answerMs);
    if (answer === undefined) throw new TypeError('no answer');
    return answer;
  }

  /** Texts are compared alike in every table of ours, whatever the defaults of server and database are. */
  #asTable(sql: string): string {
    return /^\s*CREATE TABLE [^;]*\)\s*$/s.test(sql)
      ? `${sql} ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${this.server.collation}`
      : sql;
  }

  /** The statements in pieces of which each fits into a packet. */
  *#pieces(statements: readonly string[]): Generator<readonly string[]> {
    const most = roomOf(this.server);
    let [piece, bytes]: [string[], number] = [[], 0];
    for (const statement of statements) {
      const size = Buffer.byteLength(statement) + 2;
      if (piece.length > 0 && bytes + size > most) {
        yield piece;
        [piece, bytes] = [[], 0];
      }
      piece.push(statement);
      bytes += size;
    }
    if (piece.length > 0) yield piece;
  }
}

/** Most bytes that are sent at a time. Bounds the memory here and at the server, too. */
export const roomOf = ({ maxPacket }: MysqlServer): number =>
  Math.min(maxPacket - 1_024, 4_000_000);

const release = (name: string): string => `DO RELEASE_LOCK('${name}')`;

const rowsOf = ({ names, rows }: MysqlAnswer): SqlRow[] =>
  rows.map((row) => Object.fromEntries(names.map((name, nth) => [name, row[nth]])));

/** Throws {@link RowTooLarge} for what the server would hang up on. */
export function requireRoom({ server }: MysqlSession, bytes: number): void {
  if (bytes > server.maxPacket - 1_024) throw new RowTooLarge('no packet has room for it');
}
