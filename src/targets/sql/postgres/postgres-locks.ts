import type { SqlSession } from '../sql-session.ts';
import { lockKey } from './postgres-names.ts';

/** How long a statement waits for what another session has locked: as {@link enterPostgresForm} finds it, and leaves it. */
export const LOCK_TIMEOUT = '30s';

/** Begins the statement that waits for as long as a change of a large table may take. */
export const PATIENT = 'SET LOCAL lock_timeout = 0';

/** See {@link SqlDialect.enterForm}. */
export async function enterPostgresForm(
  tx: SqlSession,
  schema: string,
  formId: string,
): Promise<void> {
  const key = lockKey(schema, 'entry', formId);
  await tx.exec(
    `${PATIENT}; SELECT pg_advisory_xact_lock(${key}::bigint); SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`,
  );
}
