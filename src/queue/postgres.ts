import { createPostgresBackend, type PgPool, runMigrations } from 'bullmq';
import { Pool } from 'pg';
import { errorCode, MirrorError } from '../base/errors.ts';
import { verifyCertificates } from '../base/transport.ts';
import {
  type BackendOptions,
  type QueueBackend,
  readPrefix,
  safeAddress,
  unreachable,
} from './backends.ts';

/** BullMQ's schema; with a caller's pool it must be this one. */
const SCHEMA = 'bullmq';

/** Connections in addition to one per worker, on which the worker waits for news. */
const QUERY_CONNECTIONS = 6;

/**
 * Opens PostgreSQL. Throws as `openBackend` does; if the server does not answer, the call may be repeated. Locks and delays use the
 * clocks of the workers' machines, which need NTP.
 */
export async function openPostgres(url: URL, options: BackendOptions): Promise<QueueBackend> {
  const prefix = readPrefix(url);
  const address = safeAddress(url);
  const pool = new Pool({
    connectionString: connectionString(url),
    // With fewer than the workers, one would wait for its connection forever.
    max: options.workers + QUERY_CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  });
  // Every BullMQ object adds a listener and never removes it.
  pool.setMaxListeners(0);
  pool.on('error', options.onError);
  try {
    // BullMQ's objects stay dead forever if the server is away when they are made, so check first.
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw translate(error, address);
  }
  return {
    kind: 'postgres',
    address,
    // The schema may contain other programs' queues.
    factory: (name, opts, extra) =>
      createPostgresBackend(`${prefix}.${name}`, { ...opts, connection: pool as PgPool }, extra),
    close: async (force) => {
      const ended = pool.end().catch(() => undefined);
      if (!force) await ended;
    },
  };
}

/** The address for the driver: without our parameter, and with the schema added to existing options. */
function connectionString(url: URL): string {
  const copy = new URL(url);
  const given = copy.searchParams.get('options');
  copy.searchParams.delete('prefix');
  verifyCertificates(copy.searchParams);
  copy.searchParams.set('options', `${given === null ? '' : `${given} `}-c search_path=${SCHEMA}`);
  // The driver reads %20 only; URLSearchParams writes +.
  copy.search = copy.search.replaceAll('+', '%20');
  return copy.href;
}

/** Codes of PostgreSQL (appendix A) for errors that a retry does not change: user, password, database, a pooler, rights. */
const DENIED = /^(?:28...|3D000|08P01|42501)$/;

function translate(error: unknown, address: string): MirrorError {
  const code = errorCode(error) ?? '';
  if (DENIED.test(code)) {
    return new MirrorError(
      'QUEUE_FAILED',
      `PostgreSQL at ${address} cannot hold the queue (${code}): check user, password and database in QUEUE_URL. The server must be reached directly, not through a pooler, and the user needs GRANT CREATE ON DATABASE.`,
      { cause: error, retryable: false },
    );
  }
  if (error instanceof Error && /Unsupported|Mismatch/.test(error.name)) {
    return new MirrorError(
      'SETTINGS',
      `PostgreSQL at ${address} cannot hold the queue: it is older than version 13, or a newer program has changed the schema ${SCHEMA}.`,
      { cause: error },
    );
  }
  return unreachable(`PostgreSQL at ${address}`, error);
}
