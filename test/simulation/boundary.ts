import crypto from 'node:crypto';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { gaxios } from 'google-auth-library';
import mysql, { type Connection } from 'mysql2';
import pg, { type Client } from 'pg';
import { Agent, type Dispatcher } from 'undici';
import type { ApiResponse } from './api.ts';
import { currentProcess, Killed, type SimProcess } from './process.ts';

/**
 * The boundary between a simulated process and the world: HTTP with undici and with Google's client, SQLite with `node:sqlite`, PostgreSQL with `pg`, MySQL with `mysql2`, files,
 * randomness. This file does not know the program, which may be rewritten as long as it uses these. Code outside of a simulated process is not affected.
 */

/** A request of a process, and the ways in which it can end. */
export interface Exchange {
  readonly process: SimProcess;
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  respond(response: ApiResponse): void;
  fail(error: Error): void;
  isOver(): boolean;
}

/** A call of a process to a real server, which is made at its turn. */
export interface Call {
  readonly process: SimProcess;
  readonly label: string;
  make(): Promise<Response>;
}

/** Who answers requests, and who decides when calls are made. */
let onExchange: ((exchange: Exchange) => void) | undefined;
let onCall: ((call: Call) => Promise<Response>) | undefined;

export function answerRequests(
  answer: (exchange: Exchange) => void,
  call: (call: Call) => Promise<Response>,
): void {
  [onExchange, onCall] = [answer, call];
  install();
}

let isInstalled = false;

function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  patchAgent();
  patchGaxios();
  patchSqlite();
  patchPostgres();
  patchMysql();
  patchFiles();
  patchRandom();
  syncBuiltinESMExports();
}

function patchAgent(): void {
  // oxlint-disable-next-line typescript/unbound-method
  const original = Agent.prototype.dispatch;
  Agent.prototype.dispatch = function dispatch(options, handler): boolean {
    const process = currentProcess();
    if (process === undefined || onExchange === undefined) {
      return original.call(this, options, handler);
    }
    onExchange(new SimExchange(process, options, handler));
    return true;
  };
}

/** Google's client sends with it. A response is read whole, so that it comes at one instant. */
function patchGaxios(): void {
  const { prototype } = gaxios.Gaxios;
  // oxlint-disable-next-line typescript/unbound-method
  const original = prototype.request as (options?: object) => Promise<unknown>;
  const patched = function patched(this: unknown, options?: object): Promise<unknown> {
    const process = currentProcess();
    if (process === undefined || onCall === undefined) return original.call(this, options);
    const fetchImplementation: typeof fetch = (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      const make = async (): Promise<Response> => {
        const answer = await fetch(input, { ...init });
        const { status, headers } = answer;
        return new Response(status === 204 ? null : await answer.arrayBuffer(), {
          status,
          headers,
        });
      };
      const body = typeof init?.body === 'string' ? ` ${requestsIn(init.body)}` : '';
      return (
        onCall?.({ process, label: `${init?.method ?? 'GET'} ${pathname}${body}`, make }) ?? make()
      );
    };
    return original.call(this, { ...options, fetchImplementation });
  };
  Object.assign(prototype, { request: patched });
}

/** The purpose of a call, without its content: the kinds of change of a batch, or the beginning of a statement. */
function requestsIn(body: string): string {
  try {
    const { requests = [], query } = JSON.parse(body) as { requests?: object[]; query?: string };
    if (query !== undefined) return query.trim().slice(0, 40);
    return [...new Set(requests.flatMap((each) => Object.keys(each)))].join(', ');
  } catch {
    return '';
  }
}

class SimExchange implements Exchange {
  readonly process: SimProcess;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #handler: Dispatcher.DispatchHandler;
  #isOver = false;
  readonly #controller: Dispatcher.DispatchController;

  constructor(
    process: SimProcess,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ) {
    this.process = process;
    this.#options = options;
    this.#handler = handler;
    this.#controller = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      pause: () => {},
      resume: () => {},
      abort: (reason: Error) => this.fail(reason),
    };
    handler.onRequestStart?.(this.#controller, {});
  }

  get origin(): string {
    return String(this.#options.origin);
  }

  get method(): string {
    return this.#options.method;
  }

  get path(): string {
    return this.#options.path;
  }

  get headers(): Readonly<Record<string, string>> {
    return (this.#options.headers ?? {}) as Record<string, string>;
  }

  get body(): string | undefined {
    return typeof this.#options.body === 'string' ? this.#options.body : undefined;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  respond({ status, headers, body, cutAt }: ApiResponse): void {
    if (this.#isOver || this.process.isDead) return;
    this.#handler.onResponseStart?.(this.#controller, status, { ...headers }, '');
    const bytes = Buffer.from(cutAt === undefined ? body : body.slice(0, cutAt));
    if (bytes.length > 0) this.#handler.onResponseData?.(this.#controller, bytes);
    if (cutAt !== undefined) {
      this.fail(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
      return;
    }
    this.#isOver = true;
    this.#handler.onResponseEnd?.(this.#controller, {});
  }

  fail(error: Error): void {
    if (this.#isOver || this.process.isDead) return;
    this.#isOver = true;
    this.#handler.onResponseError?.(this.#controller, error);
  }
}

const owners = new WeakMap<object, SimProcess>();

/**
 * The process to which a connection belongs: the first one that used it. It closes the connection with `close` when it
 * dies.
 */
function ownerOf(connection: object, close: () => void): SimProcess | undefined {
  const known = owners.get(connection);
  const owner = known ?? currentProcess();
  if (owner === undefined || known !== undefined) return owner;
  owners.set(connection, owner);
  owner.handles.add({ close });
  return owner;
}

/**
 * Counts the writes to a database of a process: each statement outside of a transaction, and each end of a transaction.
 */
function patchSqlite(): void {
  const databases = new WeakMap<StatementSync, DatabaseSync>();
  const own = (database: DatabaseSync): SimProcess | undefined =>
    ownerOf(database, () => void (database.isOpen && close.call(database)));
  const guarded = <T>(database: DatabaseSync, sql: string, run: () => T): T => {
    const owner = own(database);
    if (owner === undefined) return run();
    if (owner.isDead) throw new Killed();
    const isEnd = /^\s*(COMMIT|END)\b/i.test(sql);
    const isCounted =
      isEnd || (!database.isTransaction && !/^\s*(SELECT|PRAGMA|WITH|BEGIN)\b/i.test(sql));
    if (!isCounted) return run();
    owner.act(`before ${sql.trim().slice(0, 40)}`);
    const result = run();
    owner.act(`after ${sql.trim().slice(0, 40)}`);
    return result;
  };
  // oxlint-disable-next-line typescript/unbound-method
  const { exec, prepare, close } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function patched(sql) {
    return guarded(this, sql, () => exec.call(this, sql));
  };
  DatabaseSync.prototype.prepare = function patched(sql, ...rest) {
    own(this);
    const statement = prepare.call(this, sql, ...rest);
    databases.set(statement, this);
    return statement;
  };
  for (const name of ['run', 'all', 'get'] as const) {
    const original = StatementSync.prototype[name] as (...args: unknown[]) => unknown;
    const patched = function patched(this: StatementSync, ...args: unknown[]): unknown {
      const database = databases.get(this);
      const run = (): unknown => original.apply(this, args);
      return database === undefined ? run() : guarded(database, this.sourceSQL, run);
    };
    Object.assign(StatementSync.prototype, { [name]: patched });
  }
}

/** Connections that wait for a server, and the callers that wait until there are none. */
const busyClients = new Set<Client | Connection>();
const onIdle = new Set<() => void>();

function becameIdle(client: Client | Connection): void {
  busyClients.delete(client);
  if (busyClients.size > 0) return;
  for (const waiting of onIdle) waiting();
  onIdle.clear();
}

/** Resolves when no real server works for a process, or after `ms` (real time); false if none did. */
export async function serversAreIdle(ms: number): Promise<boolean> {
  if (busyClients.size === 0) return false;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    onIdle.add(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  return true;
}

/** Statements that are counted. */
const CHANGES = /^\s*(COMMIT|END|INSERT|UPDATE|DELETE|CREATE|ALTER|COPY)\b/i;

/** Connections to PostgreSQL close with their process, so that the server rolls back. The ends of transactions are counted. */
function patchPostgres(): void {
  const { prototype } = pg.Client;
  const { connect, query } = prototype as unknown as Record<
    string,
    (...args: unknown[]) => unknown
  >;
  const own = (client: Client): SimProcess | undefined => {
    const isKnown = owners.has(client);
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    const owner = ownerOf(client, () => {
      stream.destroy();
      becameIdle(client);
    });
    if (isKnown || owner === undefined) return owner;
    for (const event of ['drain', 'end', 'error'])
      client.on(event as 'drain', () => becameIdle(client));
    return owner;
  };
  const patched = {
    connect(this: Client, ...args: unknown[]): unknown {
      const owner = own(this);
      // A pool makes requests on its own: nothing would catch an exception.
      if (owner?.isDead === true) return new Promise(() => {});
      if (owner !== undefined) {
        busyClients.add(this);
        this.once('connect', () => becameIdle(this));
      }
      return connect?.apply(this, args);
    },
    query(this: Client, ...args: unknown[]): unknown {
      const owner = own(this);
      if (owner === undefined) return query?.apply(this, args);
      if (owner.isDead) throw new Killed();
      const [first] = args;
      const sql = typeof first === 'string' ? first : String((first as { text?: string })?.text);
      const isCounted = CHANGES.test(sql);
      if (isCounted) owner.act(`before ${sql.trim().slice(0, 40)}`);
      busyClients.add(this);
      const result = query?.apply(this, args);
      if (!isCounted || !(result instanceof Promise)) return result;
      return result.then((answer: unknown) => {
        owner.act(`after ${sql.trim().slice(0, 40)}`);
        return answer;
      });
    },
  };
  Object.assign(prototype, patched);
}

/** The same for MySQL, whose driver uses callbacks. No callback reaches a process that has died. */
function patchMysql(): void {
  const { prototype } = mysql.Connection as unknown as { prototype: object };
  const { connect, query } = prototype as Record<string, (...args: unknown[]) => unknown>;
  const own = (connection: Connection): SimProcess | undefined =>
    ownerOf(connection, () => {
      (connection as unknown as { stream: Socket }).stream.destroy();
      // The driver calls back nothing any more.
      connection.emit('end');
      becameIdle(connection);
    });
  /** The arguments, with a callback that reports that the server has answered. */
  const answered = (
    connection: Connection,
    owner: SimProcess,
    args: readonly unknown[],
    what: string | null,
  ): unknown[] => {
    const done = args.at(-1) as (...results: unknown[]) => void;
    busyClients.add(connection);
    const callback = (...results: unknown[]): void => {
      becameIdle(connection);
      if (owner.isDead) return;
      try {
        if (what !== null) owner.act(`after ${what}`);
      } catch {
        return;
      }
      done(...results);
    };
    return [...args.slice(0, -1), callback];
  };
  const patched = {
    connect(this: Connection, ...args: unknown[]): unknown {
      const owner = own(this);
      if (owner === undefined) return connect?.apply(this, args);
      if (owner.isDead) throw new Killed();
      return connect?.apply(this, answered(this, owner, args, null));
    },
    query(this: Connection, ...args: unknown[]): unknown {
      const owner = own(this);
      if (owner === undefined) return query?.apply(this, args);
      if (owner.isDead) throw new Killed();
      const what = (args[0] as { sql: string }).sql.trim().slice(0, 40);
      const isCounted = CHANGES.test(what);
      if (isCounted) owner.act(`before ${what}`);
      return query?.apply(this, answered(this, owner, args, isCounted ? what : null));
    },
  };
  Object.assign(prototype, patched);
}

const READS = ['readFile', 'readdir', 'access', 'stat', 'lstat', 'statfs', 'realpath'] as const;
const WRITES = ['writeFile', 'rename', 'mkdir', 'rm', 'unlink', 'chmod', 'appendFile'] as const;

/**
 * File access at once instead of in other threads, so that the seed determines the order of events. A dead process writes
 * nothing.
 */
function patchFiles(): void {
  const promises = fsp as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const sync = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name of [...READS, ...WRITES]) {
    const [original, atOnce] = [promises[name], sync[`${name}Sync`]];
    if (original === undefined || atOnce === undefined) continue;
    const isWrite = WRITES.some((write) => write === name);
    promises[name] = async (...args) => {
      const process = currentProcess();
      if (process === undefined) return original(...args);
      if (isWrite) process.act(`before ${name}`);
      else if (process.isDead) throw new Killed();
      const result = atOnce(...args);
      if (isWrite) process.act(`after ${name}`);
      return result;
    };
  }
  for (const name of ['writeFileSync', 'renameSync', 'rmSync', 'mkdirSync', 'openSync']) {
    const original = sync[name] as (...args: unknown[]) => unknown;
    sync[name] = (...args) => {
      if (currentProcess()?.isDead === true) throw new Killed();
      return original(...args);
    };
  }
}

/** The randomness of a process comes from the seed. */
function patchRandom(): void {
  const random = Math.random;
  Math.random = () => currentProcess()?.random() ?? random();
  const uuid = crypto.randomUUID;
  crypto.randomUUID = (options) => {
    const process = currentProcess();
    if (process === undefined) return uuid(options);
    const digits = Array.from({ length: 32 }, () =>
      Math.floor(process.random() * 16).toString(16),
    ).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
  };
}
