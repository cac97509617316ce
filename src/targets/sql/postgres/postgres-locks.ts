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
