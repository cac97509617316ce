import { EventEmitter } from 'node:events';
import type { PGlite, Results, Transaction } from '@electric-sql/pglite';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';

/*
 * The slice of `pg.Pool` that BullMQ uses, over one PGlite in this process.
 *
 * PGlite is one session. A "client" is therefore only a place to keep what a connection would: an open transaction,
 * subscriptions, a name. A transaction holds PGlite's own mutex from BEGIN to COMMIT, so other clients wait.
 */

/** bigint as text, as node-postgres gives it. */
const AS_PG = { parsers: { 20: (value: string) => value } };

const ROLLBACK = new Error('rollback');

/** PGlite awaits microtasks only: without a turn of the event loop a busy queue would freeze the process. */
const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

interface OpenTransaction {
  readonly tx: Transaction;
  readonly end: (commit: boolean) => Promise<void>;
}

class PGliteClient extends EventEmitter implements PgPoolClient {
  name = '';
  readonly #pool: PGlitePool;
  readonly #subscriptions = new Map<string, () => Promise<void>>();
  #open: OpenTransaction | undefined;

  constructor(pool: PGlitePool) {
    super();
    this.#pool = pool;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    await nextTurn();
    const sql = text.replace(/^(\s|--[^\n]*\n)+/, '');
    const [, verb = '', subject = ''] = /^(\w+)\s*(\w*)/.exec(sql) ?? [];
    switch (verb.toUpperCase()) {
      case 'BEGIN':
        await this.#begin();
        return NOTHING;
      case 'COMMIT':
      case 'END':
        await this.#end(true);
        return NOTHING;
      case 'ROLLBACK':
        await this.#end(false);
        return NOTHING;
      case 'LISTEN':
        await this.#listen(subject);
        return NOTHING;
      default:
        return this.#answerOfServer<R>(sql, params) ?? (await this.#run<R>(text, params));
    }
  }

  /** As in pg not awaited: the pool's `end` waits for it. */
  release(): void {
    const ended = [this.#end(false), ...[...this.#subscriptions.values()].map((stop) => stop())];
    this.#subscriptions.clear();
    this.name = '';
    this.removeAllListeners();
    this.#pool.released(this, Promise.allSettled(ended));
  }

  /** What only a server with several sessions can answer: who is connected, under which name. */
  #answerOfServer<R>(sql: string, params?: readonly unknown[]): PgQueryResult<R> | undefined {
    if (params !== undefined && sql.includes("set_config('application_name'")) {
      this.name = String(params[0]);
      return NOTHING;
    }
    if (!/^SELECT application_name\s+FROM pg_stat_activity/.test(sql)) return undefined;
    const rows = this.#pool.clientNames().map((name) => ({ application_name: name }) as R);
    return { rows, rowCount: rows.length };
  }

  async #run<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const session = this.#open?.tx ?? this.#pool.db;
    if (params !== undefined && params.length > 0) {
      return toPg(await session.query<R>(text, [...params], AS_PG));
    }
    // Without parameters several statements are allowed, as in the simple protocol.
    const results = await session.exec(text, AS_PG);
    return toPg(results.at(-1) as Results<R> | undefined);
  }

  async #begin(): Promise<void> {
    const opened = Promise.withResolvers<Transaction>();
    const closed = Promise.withResolvers<void>();
    const ended = this.#pool.db.transaction((tx) => {
      opened.resolve(tx);
      return closed.promise;
    });
    ended.catch(opened.reject);
    const tx = await opened.promise;
    const end = async (commit: boolean): Promise<void> => {
      if (commit) closed.resolve();
      else closed.reject(ROLLBACK);
      await ended.catch((error: unknown) => {
        if (error !== ROLLBACK) throw error;
      });
    };
    this.#open = { tx, end };
  }

  async #end(commit: boolean): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.end(commit);
  }

  async #listen(channel: string): Promise<void> {
    if (this.#subscriptions.has(channel)) return;
    const stop = await this.#pool.db.listen(channel, (payload) => {
      // On a turn of its own: after the reader of an earlier result has registered.
      setImmediate(() => this.emit('notification', { channel, payload, processId: 0 }));
    });
    this.#subscriptions.set(channel, () => stop());
  }
}

const NOTHING: PgQueryResult<never> = { rows: [], rowCount: 0 };

function toPg<R>(results: Results<R> | undefined): PgQueryResult<R> {
  const rows = results?.rows ?? [];
  return { rows, rowCount: results?.rowCount ?? rows.length };
}

/** A `pg.Pool` for BullMQ over an open PGlite, whose `search_path` must be BullMQ's schema. Does not close PGlite. */
export class PGlitePool extends EventEmitter implements PgPool {
  /** A NOTIFY within the process cannot get lost, so BullMQ may wait long for one. */
  readonly options = { keepAlive: true };
  readonly db: PGlite;
  readonly #clients = new Set<PGliteClient>();
  readonly #releases = new Set<Promise<unknown>>();

  constructor(db: PGlite) {
    super();
    this.setMaxListeners(0);
    this.db = db;
  }

  query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    return new PGliteClient(this).query<R>(text, params);
  }

  connect(): Promise<PgPoolClient> {
    const client = new PGliteClient(this);
    client.setMaxListeners(0);
    this.#clients.add(client);
    this.emit('connect', client);
    return Promise.resolve(client);
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.release();
    await Promise.allSettled(this.#releases);
  }

  /** The names that connected clients gave themselves. */
  clientNames(): string[] {
    return [...this.#clients].map((client) => client.name).filter((name) => name !== '');
  }

  /** Notes that a client is going; {@link end} waits for `done`. */
  released(client: PGliteClient, done: Promise<unknown>): void {
    this.#clients.delete(client);
    this.#releases.add(done);
    void done.finally(() => this.#releases.delete(done));
  }
}
