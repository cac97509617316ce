import { isNewerLook, type LookRecord, lookFrom, lookText } from '../../mirror/look-record.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';

/** The table that holds the newest look. What is lost with it is found by the next one. */
export const LOOKS = 'mirror_looks';

/** The name of the lock on it: no form's. */
export const LOOKS_LOCK = 'looks';

/** The newest look; null where none was kept, or the table is not there: not yet, or not any more. */
export async function readLook(
  session: SqlSession,
  dialect: SqlDialect,
): Promise<LookRecord | null> {
  if ((await dialect.columnsOf(session, LOOKS)) === undefined) return null;
  const [row] = await session.query(`SELECT look FROM ${dialect.relation(LOOKS)} WHERE slot = 1`);
  return row === undefined ? null : lookFrom(textOf(row, 'look'));
}

/** Keeps a look in place of an older one. To be called under {@link LOOKS_LOCK}. */
export async function saveLook(
  session: SqlSession,
  dialect: SqlDialect,
  look: LookRecord,
): Promise<void> {
  if (!isNewerLook(look, await readLook(session, dialect))) return;
  await session.query(
    `INSERT INTO ${dialect.relation(LOOKS)} (slot, looked_at, look) VALUES (1, $1, $2)
     ON CONFLICT (slot) DO UPDATE SET looked_at = excluded.looked_at, look = excluded.look`,
    [dialect.timeValue(look.at), lookText(look)],
  );
}
