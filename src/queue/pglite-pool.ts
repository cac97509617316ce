import { EventEmitter } from 'node:events';
import type { PGlite, Results } from '@electric-sql/pglite';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';

/** bigint as text, as in node-postgres. */
const AS_PG = { parsers: { 20: (value: string) => value } };

/**
 * A `pg.Pool` for BullMQ over an open PGlite in this process, whose `search_path` must be BullMQ's schema. Does not close PGlite,
 * which is one session. BullMQ uses transactions only to migrate, before anything else runs, so a client is another such pool with
 * its own listeners.
 */
export class PGlitePool extends EventEmitter implements PgPool, PgPoolClient {
  /** A NOTIFY within the process cannot get lost, so BullMQ may wait long for the next one. */
  readonly options = { keepAlive: true };
  readonly #db: PGlite;

  constructor(db: PGlite) {
    super();
    this.setMaxListeners(0);
    this.#db = db;
  }

  async query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    // PGlite awaits microtasks only: without a turn of the event loop, a busy queue would freeze the process.
    await new Promise((done) => setImmediate(done));
    const channel = /^LISTEN (\w+)/m.exec(text)?.[1];
    if (channel !== undefined) {
      await this.#db.listen(channel, (payload) => {
        // On a turn of its own, after the reader of an earlier result has registered.
        setImmediate(() => this.emit('notification', { channel, payload, processId: 0 }));
      });
      return { rows: [], rowCount: 0 };
    }
    if (params.length > 0) return toPg(await this.#db.query<R>(text, [...params], AS_PG));
    // Without parameters, several statements are allowed, as in the simple protocol.
    const results = await this.#db.exec(text, AS_PG);
    return toPg(results.at(-1) as Results<R> | undefined);
  }

  async connect(): Promise<PgPoolClient> {
    return new PGlitePool(this.#db);
  }

  release(): void {
    this.removeAllListeners();
  }

  async end(): Promise<void> {}
}

function toPg<R>(results: Results<R> | undefined): PgQueryResult<R> {
  const rows = results?.rows ?? [];
  return { rows, rowCount: results?.rowCount ?? rows.length };
}
