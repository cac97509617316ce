import { MirrorError } from '../../base/errors.ts';
import { type Pause, pausedError, pauseOf } from '../../mirror/pauses.ts';
import type { FormIdentity } from '../../mirror/types.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf, textOrNull } from './sql-session.ts';

/** The table of what people have paused. What is lost with it goes on. */
export const PAUSES = 'mirror_pauses';

/** The name of the lock on it: no form's. */
export const PAUSES_LOCK = 'pauses';

/** Stands for the target as a whole: no form has this ID. */
const WHOLE = '';

/** What is paused; nothing where the table is not there: not yet, or not any more. */
export async function readPauses(session: SqlSession, dialect: SqlDialect): Promise<Pause[]> {
  if ((await dialect.columnsOf(session, PAUSES)) === undefined) return [];
  const rows = await session.query(
    `SELECT form_id, ${dialect.timeText('paused_at')} AS since, paused_by, reason
     FROM ${dialect.relation(PAUSES)} ORDER BY form_id`,
  );
  return rows.map((row) => {
    const formId = textOf(row, 'form_id');
    return {
      formId: formId === WHOLE ? null : formId,
      since: dialect.time(row['since']) ?? '',
      by: textOf(row, 'paused_by'),
      reason: textOrNull(row, 'reason'),
    };
  });
}

/** Throws PAUSED where the form is to be left alone. */
export async function refusePaused(
  session: SqlSession,
  dialect: SqlDialect,
  { id, slug }: Pick<FormIdentity, 'id' | 'slug'>,
  target: string,
): Promise<void> {
  const pause = pauseOf(await readPauses(session, dialect), id);
  if (pause !== null) throw pausedError(pause, slug, target);
}

/** Another process is changing them. */
export const busyPauses = (place: string): MirrorError =>
  new MirrorError(
    'TARGET_BUSY',
    `${place}: another process is pausing or resuming something there. Try again in a moment.`,
  );

/** Keeps a pause, unless there is one of the same already, which stays. Resolves to the one in force. To be called under {@link PAUSES_LOCK}. */
export async function savePause(tx: SqlSession, dialect: SqlDialect, pause: Pause): Promise<Pause> {
  const before = (await readPauses(tx, dialect)).find(({ formId }) => formId === pause.formId);
  if (before !== undefined) return before;
  await tx.query(
    `INSERT INTO ${dialect.relation(PAUSES)} (form_id, paused_at, paused_by, reason) VALUES ($1, $2, $3, $4)`,
    [pause.formId ?? WHOLE, dialect.timeValue(pause.since), pause.by, pause.reason],
  );
  return pause;
}

/** Ends a pause. Resolves to what it was; undefined for none. To be called under {@link PAUSES_LOCK}. */
export async function endPause(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string | null,
): Promise<Pause | undefined> {
  const before = (await readPauses(tx, dialect)).find((pause) => pause.formId === formId);
  if (before === undefined) return undefined;
  await tx.query(`DELETE FROM ${dialect.relation(PAUSES)} WHERE form_id = $1`, [formId ?? WHOLE]);
  return before;
}
