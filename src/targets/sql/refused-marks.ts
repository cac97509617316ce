import { safeText } from '../../base/errors.ts';
import { withoutIds } from '../../mirror/forgotten.ts';
import { markingRecord } from '../../mirror/marking-record.ts';
import type { MarkingRecord } from '../../mirror/marking-record.ts';
import type { Refusal, SentMark } from '../../mirror/target.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import { readForgotten } from './forgotten.ts';
import { piecesOf, placeholders, type SqlSession, textOf } from './sql-session.ts';
import { cleanText } from './row-batch.ts';

/*
 * `mirror_refusals` holds what is remembered of status changes: those that the source refused, with the reason, and those
 * that it answered with success and was not seen to have made, with an empty one.
 */

const goneOf = (
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> =>
  ids.length === 0
    ? Promise.resolve(new Map())
    : readForgotten({ session: tx, dialect }, formId, ids);

/** Status changes stored by one statement. */
const MARKS_A_STATEMENT = 100;

/** The condition for a refusal, as against a change that was sent; see above. */
export const IS_REFUSAL = "reason <> ''";

/** Records status changes that the source refused (L7). A repeated one takes the newer time and reason. */
export async function saveRefusals(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  refusals: readonly Refusal[],
): Promise<void> {
  // Refused while it was being forgotten, perhaps (L18).
  const gone = await goneOf(
    tx,
    dialect,
    formId,
    refusals.map(({ submissionId }) => submissionId),
  );
  for (const { submissionId, status, wanted, reason, at } of refusals) {
    if (gone.has(submissionId)) continue;
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_refusals')}
         (form_id, submission_id, status, wanted, reason, refused_at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (form_id, submission_id, status, wanted)
       DO UPDATE SET reason = excluded.reason, refused_at = excluded.refused_at`,
      [
        formId,
        submissionId,
        cleanText(status),
        cleanText(wanted),
        safeText(reason),
        dialect.timeValue(at),
      ],
    );
  }
}

/**
 * Ends the refusals of rows that have changed: what was refused of the old row says nothing of the new one. Changes that
 * were sent stay, as it is by changing back that a row shows that they were not made.
 */
export async function endRefusals(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  submissionIds: readonly string[],
): Promise<void> {
  if (submissionIds.length === 0) return;
  await tx.query(
    `DELETE FROM ${dialect.relation('mirror_refusals')}
     WHERE form_id = $1 AND ${IS_REFUSAL} AND ${dialect.isIn('submission_id', '$2')}`,
    [formId, dialect.list(submissionIds)],
  );
}

/** Forgets what is remembered of the status changes of rows, of either kind, and remembers those that were sent now. */
export async function saveSentMarks(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  { changed, sent }: { changed: readonly string[]; sent: readonly SentMark[] },
): Promise<void> {
  const relation = dialect.relation('mirror_refusals');
  if (changed.length > 0) {
    await tx.query(
      `DELETE FROM ${relation} WHERE form_id = $1 AND ${dialect.isIn('submission_id', '$2')}`,
      [formId, dialect.list(changed)],
    );
  }
  const isChanged = new Set(changed);
  const kept = sent.filter(({ submissionId }) => isChanged.has(submissionId));
  for (const piece of piecesOf(kept, MARKS_A_STATEMENT)) {
    await tx.query(
      `INSERT INTO ${relation} (form_id, submission_id, status, wanted, reason, refused_at)
       VALUES ${placeholders(piece.length, 6)}`,
      piece.flatMap(({ submissionId, status, wanted, at }) => {
        const [held, now] = [cleanText(status), cleanText(wanted)];
        return [formId, submissionId, held, now, '', dialect.timeValue(at)];
      }),
    );
  }
}

/**
 * Forgets the sent changes that a proven full pass, begun at `since`, found made or overtaken: the row has another status,
 * as the pass saw it. Of a row that is listed, it may not have seen it.
 */
export async function settleSentMarks(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, table, since }: { formId: string; table: string; since: string },
): Promise<void> {
  await tx.query(
    `DELETE FROM ${dialect.relation('mirror_refusals')} AS f
     WHERE form_id = $1 AND NOT ${IS_REFUSAL} AND refused_at < $2 AND NOT EXISTS (
       SELECT 1 FROM ${dialect.relation(table)} AS t
       WHERE t.id = f.submission_id AND t.status = f.status AND t._deleted_at IS NULL)
       AND NOT EXISTS (
         SELECT 1 FROM ${dialect.relation('mirror_rejected')} AS r
         WHERE r.form_id = f.form_id AND r.submission_id = f.submission_id)`,
    [formId, dialect.timeValue(since)],
  );
}

/** See `triedBefore` of the port. */
export async function readTriedBefore(
  session: SqlSession,
  dialect: SqlDialect,
  { formId, ids, wanted }: { formId: string; ids: readonly string[]; wanted: string },
): Promise<Set<string>> {
  const rows = await session.query(
    `SELECT DISTINCT submission_id FROM ${dialect.relation('mirror_refusals')}
     WHERE form_id = $1 AND wanted = $2 AND ${dialect.isIn('submission_id', '$3')}`,
    [formId, cleanText(wanted), dialect.list(ids)],
  );
  return new Set(rows.map((row) => textOf(row, 'submission_id')));
}

/** What marking left to say of each form; forms of which there is nothing to say are missing. */
export async function readMarkings({
  session,
  dialect,
}: Catalogue): Promise<Map<string, MarkingRecord>> {
  const rows = await session.query(
    `SELECT form_id, marking FROM ${dialect.relation('mirror_forms')} WHERE marking IS NOT NULL`,
  );
  return new Map(
    rows.flatMap((row) => {
      const record = markingRecord(textOf(row, 'marking'));
      return record === null ? [] : [[textOf(row, 'form_id'), record] as const];
    }),
  );
}

/** Keeps what marking left to say of a form; `named`: submissions that it may name. */
export async function saveMarking(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  { record, named }: { record: MarkingRecord | null; named: readonly string[] },
): Promise<void> {
  const gone = await goneOf(tx, dialect, formId, named);
  const text =
    record === null
      ? null
      : JSON.stringify({ ...record, error: record.error && withoutIds(record.error, gone.keys()) });
  await tx.query(`UPDATE ${dialect.relation('mirror_forms')} SET marking = $1 WHERE form_id = $2`, [
    text === null ? null : cleanText(text),
    formId,
  ]);
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
     FROM ${dialect.relation('mirror_refusals')}
     WHERE form_id = $1 AND submission_id = $2 AND ${IS_REFUSAL}
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
