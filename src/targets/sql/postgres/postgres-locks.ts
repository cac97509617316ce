import type { SqlSession } from '../sql-session.ts';
import type { Entry } from '../writer-transactions.ts';
import { lockKey } from './postgres-names.ts';

/** How long a statement waits for what another session has locked: as {@link enterPostgresForm} finds it, and leaves it. */
export const LOCK_TIMEOUT = '30s';

/** Begins the statement that waits for as long as a change of a large table may take. */
export const PATIENT = 'SET LOCAL lock_timeout = 0';

/**
 * See {@link SqlDialect.enterForm}. An advisory lock, because those who wait for it get it in the order of asking, where
 * those who share the lock of a row let one who wants it alone wait for ever.
 */
export async function enterPostgresForm(
  tx: SqlSession,
  schema: string,
  formId: string,
  entry: Entry,
): Promise<void> {
  const key = lockKey(schema, 'entry', formId);
  const shared = entry === 'together' ? '_shared' : '';
  await tx.exec(
    `${PATIENT}; SELECT pg_advisory_xact_lock${shared}(${key}::bigint); SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`,
  );
}

/**
 * Has the server end this connection, and with it release its locks, when nothing is heard on it for `leaseMs`: a process
 * that is stopped keeps its connection alive and would hold them for ever. Until it is called off, this process is heard.
 * Servers before PostgreSQL 14 end it only where the process stalled in the middle of a transaction.
 */
export async function keepLease(connection: SqlSession, leaseMs: number): Promise<() => void> {
  await connection.exec(
    `SET idle_in_transaction_session_timeout = ${leaseMs};
     SELECT set_config(name, '${leaseMs}', false) FROM pg_settings WHERE name = 'idle_session_timeout'`,
  );
  // The next write tells of a connection that is lost.
  const sign = (): void => void connection.exec('SELECT 1').catch(() => {});
  const timer = setInterval(sign, leaseMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}
