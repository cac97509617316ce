import { createHash } from 'node:crypto';
import type { SqlConnection, SqlSession } from '../sql-session.ts';
import { LOCK_WAIT_TIMEOUT, MysqlError } from './mysql-errors.ts';
import { backticked, textLiteral } from './mysql-literal.ts';
import { LOCK_TIMEOUT_S, MysqlSession } from './mysql-session.ts';

/** As long as a change of a large table may take, in ms. */
const PATIENCE_MS = 3_600_000;

/** The name of a lock, which is known to the whole server: at most 64 characters, different for each database and purpose. */
export function lockName(database: string, ...parts: readonly string[]): string {
  const digest = createHash('sha256')
    .update([database, ...parts].join('\0'))
    .digest('hex');
  return `forms-mirror:${digest.slice(0, 48)}`;
}

/** See {@link SqlDialect.lockCatalogue}. */
export async function lockMysqlCatalogue(tx: SqlSession, database: string): Promise<void> {
  if (await sessionOf(tx).lock(lockName(database, 'catalogue'), LOCK_TIMEOUT_S * 1_000)) return;
  throw new MysqlError({ errno: LOCK_WAIT_TIMEOUT });
}

/**
 * See {@link SqlDialect.enterForm}. A named lock beside that of the form's row in `mirror_locks`: a change of tables ends the
 * transaction, and with it the lock of the row.
 */
export async function enterMysqlForm(
  tx: SqlSession,
  database: string,
  formId: string,
): Promise<void> {
  const session = sessionOf(tx);
  const gate = lockName(database, 'entry', formId);
  if (!(await session.lock(gate, PATIENCE_MS))) throw new MysqlError({ errno: LOCK_WAIT_TIMEOUT });
  const row = `SELECT 1 FROM ${backticked('mirror_locks')} WHERE form_id = ${textLiteral(formId)}`;
  await session.exec(
    `SET SESSION innodb_lock_wait_timeout = ${PATIENCE_MS / 1_000}; ${row} FOR UPDATE;
     SET SESSION innodb_lock_wait_timeout = ${LOCK_TIMEOUT_S}`,
  );
}

/**
 * Has the server end this connection, and with it release its locks, when nothing is heard on it for `leaseMs`: a process
 * that is stopped keeps its connection alive and would hold them for ever. Until it is called off, this process is heard.
 */
export async function keepLease(connection: SqlConnection, leaseMs: number): Promise<() => void> {
  await connection.exec(`SET SESSION wait_timeout = ${Math.max(1, Math.round(leaseMs / 1_000))}`);
  // The next write tells of a connection that is lost.
  const sign = (): void => void connection.exec('DO 1').catch(() => {});
  const timer = setInterval(sign, leaseMs / 4);
  timer.unref();
  return () => clearInterval(timer);
}

/** The session of a transaction of ours, which can do more than the shared SQL asks for. */
export function sessionOf(tx: SqlSession): MysqlSession {
  if (!(tx instanceof MysqlSession)) throw new TypeError('no transaction of MySQL');
  return tx;
}
