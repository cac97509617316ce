import { EventEmitter } from 'node:events';
import type { PGlite, Results } from '@electric-sql/pglite';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';

/*
 * The slice of `pg.Pool` that BullMQ uses, over one PGlite in this process. PGlite is one session, and BullMQ begins
 * transactions only to migrate, before anything else uses it: so a "client" only passes queries and notifications on.
 */

/** bigint as text, as node-postgres gives it. */
const AS_PG = { parsers: { 20: (value: string) => value } };

class PGliteClient extends EventEmitter implements PgPoolClient {
  readonly #db: PGlite;

  constructor(db: PGlite) {
    super();
    this.setMaxListeners(0);
    this.#db = db;
  }

  async query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    // PGlite awaits microtasks only: without a turn of the event loop a busy queue would freeze the process.
    await new Promise((done) => setImmediate(done));
    const channel = /^LISTEN (\w+)/m.exec(text)?.[1];
    if (channel !== undefined) {
      await this.#db.listen(channel, (payload) => {
        // On a turn of its own: after the reader of an earlier result has registered.
        setImmediate(() => this.emit('notification', { channel, payload, processId: 0 }));
      });
      return { rows: [], rowCount: 0 };
    }
    if (params.length > 0) return toPg(await this.#db.query<R>(text, [...params], AS_PG));
    // Without parameters several statements are allowed, as in the simple protocol.
    const results = await this.#db.exec(text, AS_PG);
    return toPg(results.at(-1) as Results<R> | undefined);
  }

  release(): void {
    this.removeAllListeners();
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
  readonly #db: PGlite;

  constructor(db: PGlite) {
    super();
    this.setMaxListeners(0);
    this.#db = db;
  }

  query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    return new PGliteClient(this.#db).query<R>(text, params);
  }

  async connect(): Promise<PgPoolClient> {
    return new PGliteClient(this.#db);
  }

  async end(): Promise<void> {}
}
