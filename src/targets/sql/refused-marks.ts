import { safeText } from '../../base/errors.ts';
import type { Refusal } from '../../mirror/target.ts';
import type { SqlDialect } from './dialect.ts';
import { type SqlSession, textOf } from './sql-session.ts';
import { cleanText } from './storable-rows.ts';

/** Remembers status changes that the source refused (L7). A repeated one takes the newer time and reason. */
export async function saveRefusals(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  refusals: readonly Refusal[],
): Promise<void> {
  for (const { submissionId, status, wanted, reason, at } of refusals) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_refusals')}
         (form_id, submission_id, status, wanted, reason, refused_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (form_id, submission_id, status, wanted)
       DO UPDATE SET reason = excluded.reason, refused_at = excluded.refused_at`,
      [formId, submissionId, cleanText(status), cleanText(wanted), safeText(reason), at],
    );
  }
}

/** The refusals recorded for a submission, newest first. */
export async function readRefusals(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
  submissionId: string,
): Promise<Refusal[]> {
  const rows = await session.query(
    `SELECT submission_id, status, wanted, reason, ${dialect.timeText('refused_at')} AS refused_at
     FROM ${dialect.relation('mirror_refusals')} WHERE form_id = $1 AND submission_id = $2
     ORDER BY mirror_refusals.refused_at DESC, status, wanted`,
    [formId, submissionId],
  );
  return rows.map((row) => ({
    submissionId: textOf(row, 'submission_id'),
    status: textOf(row, 'status'),
    wanted: textOf(row, 'wanted'),
    reason: textOf(row, 'reason'),
    at: dialect.time(row['refused_at']) ?? '',
  }));
}
