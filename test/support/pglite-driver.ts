import type { PGlite, Transaction } from '@electric-sql/pglite';
import type {
  PostgresClient,
  PostgresDriver,
  PostgresQuery,
  PostgresResult,
} from '../../src/targets/sql/postgres/postgres-driver.ts';

/** Types whose values pg gives us as text; PGlite would parse them. */
const TEXT_TYPES = [16, 20, 21, 23, 26, 114, 700, 701, 1114, 1184, 1700, 3802];
const PARSERS = Object.fromEntries(TEXT_TYPES.map((oid) => [oid, (value: string) => value]));

/**
 * PGlite behind the driver that our PostgreSQL target uses: a further proof of the SQL. PGlite has one session, so what
 * belongs to a session is done here: a transaction keeps everybody else waiting, and advisory locks know their owner.
 */
export function pgliteDriver(database: PGlite): PostgresDriver {
  const locks = new Map<string, object>();
  return {
    client: () => pgliteClient(database, locks),
    pool: { query: (query) => run(database, query), end: async () => {} },
  };
}

function pgliteClient(database: PGlite, locks: Map<string, object>): PostgresClient {
  const owner = {};
  let transaction: Transaction | undefined;
  let finish: ((commit: boolean) => Promise<void>) | undefined;

  const begin = async (): Promise<void> => {
    const opened = Promise.withResolvers<Transaction>();
    const closed = Promise.withResolvers<void>();
    const running = database.transaction((tx) => {
      opened.resolve(tx);
      return closed.promise;
    });
    running.catch((error: unknown) => opened.reject(error));
    transaction = await opened.promise;
    finish = async (commit) => {
      transaction = undefined;
      finish = undefined;
      if (commit) closed.resolve();
      else closed.reject(new Error('rolled back'));
      await running.catch((error: unknown) => {
        if (commit) throw error;
      });
    };
  };
  const tryLock = (key: string): PostgresResult => {
    const locked = !locks.has(key) || locks.get(key) === owner;
    if (locked) locks.set(key, owner);
    return { rows: [{ locked: locked ? 't' : 'f' }] };
  };
  let turn: Promise<unknown> = Promise.resolve();
  /** What is asked runs once what was asked before has. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  };
  const ask = async (query: PostgresQuery): Promise<PostgresResult> => {
    if (query.text.startsWith('BEGIN')) {
      await begin();
      return { rows: [] };
    }
    switch (query.text) {
      case 'COMMIT':
      case 'ROLLBACK':
        await finish?.(query.text === 'COMMIT');
        return { rows: [], command: query.text };
      default:
    }
    if (query.text.includes('pg_try_advisory_lock')) return tryLock(String(query.values?.[0]));
    return run(transaction ?? database, query);
  };
  const copy = async (sql: string, texts: Iterable<string>): Promise<number> => {
    const blob = new Blob([...texts]);
    const statements = sql.replace('FROM STDIN', "FROM '/dev/blob'");
    const results = await (transaction ?? database).exec(statements, { blob });
    return Math.max(...results.map(({ affectedRows }) => affectedRows ?? 0));
  };
  return {
    connect: async () => {},
    on: () => {},
    query: (query) => inTurn(() => ask(query)),
    copy: (sql, texts) => inTurn(() => copy(sql, texts)),
    async end() {
      await finish?.(false);
      for (const [key, holder] of locks) if (holder === owner) locks.delete(key);
    },
  };
}

async function run(session: PGlite | Transaction, query: PostgresQuery): Promise<PostgresResult> {
  if (query.values === undefined) {
    await session.exec(query.text);
    return { rows: [] };
  }
  const options = { parsers: PARSERS, rowMode: query.rowMode ?? ('object' as const) };
  const result = await session.query(query.text, query.values.map(asParameter), options);
  return { rows: result.rows };
}

/** PGlite writes arrays by the type it thinks they have; as text they mean the same to everyone. */
function asParameter(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.map((item) =>
    item === null ? 'NULL' : `"${String(item).replace(/[\\"]/g, '\\$&')}"`,
  );
  return `{${items.join(',')}}`;
}
