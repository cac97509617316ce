import { EventEmitter } from 'node:events';
import type { PGlite, Results } from '@electric-sql/pglite';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';

/*
 * The slice of `pg.Pool` that BullMQ uses, over one PGlite in this process. PGlite is one session, and BullMQ begins
 * transactions only to migrate, before anything else uses it: so a "client" only keeps a name and subscriptions.
 */

/** bigint as text, as node-postgres gives it. */
const AS_PG = { parsers: { 20: (value: string) => value } };

class PGliteClient extends EventEmitter implements PgPoolClient {
  name = '';
  readonly #pool: PGlitePool;
  readonly #subscriptions = new Map<string, () => Promise<void>>();

  constructor(pool: PGlitePool) {
    super();
    this.setMaxListeners(0);
    this.#pool = pool;
  }

  async query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    // PGlite awaits microtasks only: without a turn of the event loop a busy queue would freeze the process.
    await new Promise((done) => setImmediate(done));
    const channel = /^LISTEN (\w+)/m.exec(text)?.[1];
    if (channel !== undefined) return this.#listen<R>(channel);
    // What only a server with several sessions can answer: who is connected, under which name.
    if (text.includes("set_config('application_name'")) {
      this.name = String(params[0]);
      return { rows: [], rowCount: 0 };
    }
    if (/^SELECT application_name\s+FROM pg_stat_activity/m.test(text)) {
      const names = [...this.#pool.clients].map(({ name }) => name).filter((name) => name !== '');
      return { rows: names.map((name) => ({ application_name: name }) as R) };
    }
    if (params.length > 0) return toPg(await this.#pool.db.query<R>(text, [...params], AS_PG));
    // Without parameters several statements are allowed, as in the simple protocol.
    const results = await this.#pool.db.exec(text, AS_PG);
    return toPg(results.at(-1) as Results<R> | undefined);
  }

  /** As in pg not awaited. */
  release(): void {
    for (const stop of this.#subscriptions.values()) stop().catch(() => undefined);
    this.#subscriptions.clear();
    this.#pool.clients.delete(this);
    this.removeAllListeners();
  }

  async #listen<R>(channel: string): Promise<PgQueryResult<R>> {
    if (!this.#subscriptions.has(channel)) {
      const stop = await this.#pool.db.listen(channel, (payload) => {
        // On a turn of its own: after the reader of an earlier result has registered.
        setImmediate(() => this.emit('notification', { channel, payload, processId: 0 }));
      });
      this.#subscriptions.set(channel, () => stop());
    }
    return { rows: [], rowCount: 0 };
  }
}

function toPg<R>(results: Results<R> | undefined): PgQueryResult<R> {
  const rows = results?.rows ?? [];
  return { rows, rowCount: results?.rowCount ?? rows.length };
}

/** A `pg.Pool` for BullMQ over an open PGlite, whose `search_path` must be BullMQ's schema. Does not close PGlite. */
export class PGlitePool extends EventEmitter implements PgPool {
  /** A NOTIFY within the process cannot get lost, so BullMQ may wait long for the next. */
  readonly options = { keepAlive: true };
  readonly db: PGlite;
  readonly clients = new Set<PGliteClient>();

  constructor(db: PGlite) {
    super();
    this.setMaxListeners(0);
    this.db = db;
  }

  query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    return new PGliteClient(this).query<R>(text, params);
  }

  async connect(): Promise<PgPoolClient> {
    const client = new PGliteClient(this);
    this.clients.add(client);
    return client;
  }

  async end(): Promise<void> {
    for (const client of this.clients) client.release();
  }
}
