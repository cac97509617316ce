import type { ListedRejection } from '../../mirror/target.ts';
import type { Rejection } from '../../mirror/types.ts';
import type { SqlDialect } from './dialect.ts';
import {
  booleanOf,
  numberOf,
  piecesOf,
  placeholders,
  type SqlSession,
  textOf,
} from './sql-session.ts';
import { listable } from './row-batch.ts';

/** Rejections written by one statement. */
const REJECTIONS_A_STATEMENT = 500;

/** The rejections of one batch. */
export interface RejectionBatch {
  readonly formId: string;
  /** All submissions of the batch: those without a rejection lose their listings. */
  readonly submissionIds: readonly string[];
  readonly rejections: readonly Rejection[];
  readonly at: string;
  /** The writer's fencing epoch: distinguishes its pass from earlier ones. */
  readonly epoch: number;
}

/** What {@link listRejections} did: how many listings it added and deleted, and which submissions had none before. */
export interface ListingChanges {
  readonly newlyListed: ReadonlySet<string>;
  readonly added: number;
  readonly ended: number;
}

/** Brings `mirror_rejected` up to date with a batch (L6). */
export async function listRejections(
  tx: SqlSession,
  dialect: SqlDialect,
  batch: RejectionBatch,
): Promise<ListingChanges> {
  const table = dialect.relation('mirror_rejected');
  if (batch.rejections.length === 0 && !(await listsAny(tx, dialect, batch.formId))) {
    return NO_CHANGES;
  }
  const byKey = new Map(
    batch.rejections.map((item) => {
      const listed = listable(item, dialect);
      return [`${listed.submissionId}\0${listed.reason}`, listed];
    }),
  );
  const before = await listedKeys(tx, dialect, batch, [...byKey.values()]);
  const over = [...before].filter((key) => !byKey.has(key)).sort();
  let ended = 0;
  for (const key of over) {
    const [submissionId = '', reason = ''] = key.split('\0');
    const rows = await tx.query(
      `DELETE FROM ${table} WHERE form_id = $1 AND submission_id = $2 AND reason = $3 RETURNING form_id`,
      [batch.formId, submissionId, reason],
    );
    ended += rows.length;
  }
  const fresh = [...byKey.keys()].filter((key) => !before.has(key)).sort();
  const added = await upsertListings(tx, dialect, batch, byKey, fresh, 'NOTHING');
  // Where another writer listed one meanwhile, it is the newer one that stands.
  const known = [...byKey.keys()].filter((key) => !added.has(key)).sort();
  await upsertListings(tx, dialect, batch, byKey, known, RENEW);
  const [listedBefore, listedNow] = [submissionsOf(before), submissionsOf(added)];
  const newlyListed = new Set<string>();
  for (const item of batch.rejections) {
    const { submissionId } = listable(item, dialect);
    if (listedNow.has(submissionId) && !listedBefore.has(submissionId)) {
      newlyListed.add(item.submissionId);
    }
  }
  return { added: added.size, ended, newlyListed };
}

const NO_CHANGES: ListingChanges = { newlyListed: new Set(), added: 0, ended: 0 };

/** Whether any submission of a form is listed. Of most forms none is, and no batch has to be looked up. */
async function listsAny(tx: SqlSession, dialect: SqlDialect, formId: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS listed FROM ${dialect.relation('mirror_rejected')} WHERE form_id = $1 LIMIT 1`,
    [formId],
  );
  return rows.length > 0;
}

const submissionsOf = (keys: ReadonlySet<string>): Set<string> =>
  new Set([...keys].map((key) => key.slice(0, key.indexOf('\0'))));

const RENEW = `UPDATE SET stored = excluded.stored, last_seen_at = excluded.last_seen_at,
  last_epoch = excluded.last_epoch`;

/** Lists those of these keys; the keys of what it wrote. `onConflict`: what becomes of one that is listed already. */
async function upsertListings(
  tx: SqlSession,
  dialect: SqlDialect,
  batch: RejectionBatch,
  byKey: ReadonlyMap<string, Rejection>,
  keys: readonly string[],
  onConflict: string,
): Promise<Set<string>> {
  const written = new Set<string>();
  const listed = keys.map((key) => byKey.get(key)).filter((item) => item !== undefined);
  for (const piece of piecesOf(listed, REJECTIONS_A_STATEMENT)) {
    const rows = await tx.query(
      `INSERT INTO ${dialect.relation('mirror_rejected')}
         (form_id, submission_id, reason, stored, first_seen_at, last_seen_at, last_epoch)
       VALUES ${placeholders(piece.length, 7)}
       ON CONFLICT (form_id, submission_id, reason) DO ${onConflict} RETURNING submission_id, reason`,
      piece.flatMap(({ submissionId, reason, stored }) => [
        batch.formId,
        submissionId,
        reason,
        dialect.boolean(stored),
        dialect.timeValue(batch.at),
        dialect.timeValue(batch.at),
        batch.epoch,
      ]),
    );
    for (const row of rows)
      written.add(`${textOf(row, 'submission_id')}\0${textOf(row, 'reason')}`);
  }
  return written;
}

/** Keys (`<submission>\0<reason>`) of what is listed for the submissions of a batch. */
async function listedKeys(
  tx: SqlSession,
  dialect: SqlDialect,
  batch: RejectionBatch,
  listed: readonly Rejection[],
): Promise<Set<string>> {
  const ids = new Set([...batch.submissionIds, ...listed.map((item) => item.submissionId)]);
  const rows = await tx.query(
    `SELECT submission_id, reason FROM ${dialect.relation('mirror_rejected')}
     WHERE form_id = $1 AND ${dialect.isIn('submission_id', '$2')}`,
    [batch.formId, dialect.list([...ids])],
  );
  return new Set(rows.map((row) => `${textOf(row, 'submission_id')}\0${textOf(row, 'reason')}`));
}

/** Since when everything was met: by the pass of an epoch, or by several since a time (ISO). */
type MetLast = { readonly epoch: number } | { readonly since: string };

/** After a proven full pass: deletes listings of what was not met, which the source no longer has. How many. */
export async function dropStaleRejections(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  metLast: MetLast,
): Promise<number> {
  const [isStale, limit] =
    'epoch' in metLast
      ? ['last_epoch <> $2', metLast.epoch]
      : ['last_seen_at < $2', dialect.timeValue(metLast.since)];
  const ended = await tx.query(
    `DELETE FROM ${dialect.relation('mirror_rejected')} WHERE form_id = $1 AND ${isStale}
     RETURNING submission_id`,
    [formId, limit],
  );
  return ended.length;
}

/** The newest listings, and how many there are. */
export async function readRejections(
  session: SqlSession,
  dialect: SqlDialect,
  formId: string,
  limit: number,
): Promise<{ total: number; items: ListedRejection[] }> {
  const table = dialect.relation('mirror_rejected');
  const [count] = await session.query(`SELECT count(*) AS total FROM ${table} WHERE form_id = $1`, [
    formId,
  ]);
  const rows = await session.query(
    `SELECT submission_id, reason, stored, ${dialect.timeText('first_seen_at')} AS first_seen_at,
       ${dialect.timeText('last_seen_at')} AS last_seen_at
     FROM ${table} WHERE form_id = $1
     ORDER BY mirror_rejected.first_seen_at DESC, submission_id, reason LIMIT $2`,
    [formId, limit],
  );
  const items = rows.map((row) => ({
    submissionId: textOf(row, 'submission_id'),
    reason: textOf(row, 'reason'),
    stored: booleanOf(row, 'stored'),
    firstSeenAt: dialect.time(row['first_seen_at']) ?? '',
    lastSeenAt: dialect.time(row['last_seen_at']) ?? '',
  }));
  return { total: count === undefined ? 0 : numberOf(count, 'total'), items };
}
