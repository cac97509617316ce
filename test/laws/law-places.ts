import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { Clock } from '../../src/base/clock.ts';
import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import type { Target } from '../../src/mirror/target.ts';
import { parseMysqlUrl } from '../../src/targets/sql/mysql/mysql-address.ts';
import { openMysql } from '../../src/targets/sql/mysql/mysql-database.ts';
import { openSqlite } from '../../src/targets/sql/sqlite/sqlite-database.ts';
import { createMysqlDatabase } from '../support/servers.ts';
import { scratchFolder } from '../support/scratch.ts';

type Shown = Record<string, unknown>;

/** Asks a database from outside, through no code under test, and at once: while the source is being asked. */
export interface Asker {
  all(sql: string, ...params: readonly string[]): Shown[];
  /** Runs statements, as a person would. */
  run(sql: string): void;
  /** The tables that there are. */
  tables(): ReadonlySet<string>;
}

/** A database that a world mirrors into. */
export interface LawPlace {
  readonly asker: Asker;
  open(name: string, clock: Clock): Target;
  dispose(): Promise<void>;
}

/**
 * Asks a SQLite file, which may not be there yet. `isKept`: it stays open until it is disposed of, as reading the schema for
 * each question would take a third of a whole life.
 */
export function sqliteAsker(file: string, isKept = false): Asker & Disposable {
  let kept: DatabaseSync | undefined;
  const all = (sql: string, ...params: readonly string[]): Shown[] => {
    if (kept !== undefined) return kept.prepare(sql).all(...params);
    if (!existsSync(file)) return [];
    const reader = new DatabaseSync(file, { readOnly: true });
    try {
      return reader.prepare(sql).all(...params);
    } finally {
      if (isKept) kept = reader;
      else reader.close();
    }
  };
  return {
    all,
    run(sql) {
      using db = new DatabaseSync(file);
      db.exec(sql);
    },
    [Symbol.dispose]: () => kept?.close(),
    tables: () =>
      new Set(
        all("select name from sqlite_master where type = 'table'").map(({ name }) => String(name)),
      ),
  };
}

/** A SQLite file that is not there yet. */
export async function sqliteLawPlace(): Promise<LawPlace> {
  const folder = scratchFolder('laws');
  const file = join(folder, 'mirror.sqlite');
  const asker = sqliteAsker(file, true);
  return {
    asker,
    open: (name, clock) => openSqlite(name, file, clock),
    async dispose() {
      asker[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of its own on a server of MariaDB. */
export async function mysqlLawPlace(server: { readonly url: string }): Promise<LawPlace> {
  const url = await createMysqlDatabase(server);
  const address = parseMysqlUrl(url);
  const thread = new AskingThread('./mysql-asking-child.ts', { url });
  const all = (sql: string, ...params: readonly string[]): Shown[] =>
    thread.ask({ sql, params }).map(withTimes);
  return {
    asker: {
      all,
      run: (sql) => void thread.ask({ sql, params: [] }),
      tables: () =>
        new Set(
          all(
            "select table_name as name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'",
          ).map(({ name }) => String(name)),
        ),
    },
    open: (name, clock) => openMysql(name, address, clock),
    async dispose() {
      thread.ask({ sql: `drop database ${address.database}`, params: [] });
      await thread.end();
    },
  };
}

/** Times as the mirror writes them. */
const withTimes = (row: Shown): Shown =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      name.endsWith('_at') && typeof value === 'string'
        ? canonicalTime(`${value.replace(' ', 'T')}Z`)
        : value,
    ]),
  );

/** A thread that answers, while this one stands still. */
class AskingThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #turn = new Int32Array(new SharedArrayBuffer(4));

  constructor(file: string, data: object) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: { ...data, port: port2, turn: this.#turn },
      transferList: [port2],
    });
  }

  /** What it says of itself first. */
  async greeting(): Promise<unknown> {
    const [message] = (await once(this.#port, 'message')) as unknown[];
    return message;
  }

  ask(question: object): Shown[] {
    Atomics.store(this.#turn, 0, 0);
    this.#port.postMessage(question, []);
    Atomics.wait(this.#turn, 0, 0);
    const { message } = receiveMessageOnPort(this.#port) ?? { message: { error: 'no answer' } };
    const answer = message as { readonly rows?: Shown[]; readonly error?: string };
    if (answer.rows === undefined) throw new Error(answer.error);
    return answer.rows;
  }

  async end(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }
}
