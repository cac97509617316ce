import type { SqlDialect, StorableRow } from './dialect.ts';
import { piecesOf, placeholders, run, type SqlSession, textOrNull } from './sql-session.ts';

/*
 * `mirror_status_history`: every status that a submission was seen in. An entry is written in the transaction that gives a
 * row another status than its last entry has, or stores it for the first time: `seen_at` is when; `not_before` is the last
 * time that the submission was seen in another one, so that the change lies between the two. Null: it was not seen before.
 *
 * Where people dropped the table, nothing is made up for what it said: rows get an entry when they change, and the others
 * with the first pass that has compared everything; `statuses_since` in `mirror_forms` says when.
 */

/** Rows of one statement. */
const ROWS_A_STATEMENT = 2_000;

/** A form's table, and the time of the transaction that has changed rows in it (ISO). */
export interface ChangedTable {
  readonly formId: string;
  readonly table: string;
  readonly at: string;
}

/** A row, with the status that it was stored in. */
type StatusOfRow = Pick<StorableRow, 'id' | 'status'>;

const historyOf = (dialect: SqlDialect): string => dialect.relation('mirror_status_history');

/**
 * Whether a form is being read for the first time, and nothing of it was lost, so that rows that it gets have no entries: then
 * they need not be looked for, which would cost a first pass more than to write them.
 */
export async function isFirstReading(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS found FROM ${dialect.relation('mirror_passes')}
     WHERE form_id = $1 AND kind = 'full' AND outcome IN ('ok', 'withheld')
     UNION ALL SELECT 1 AS found FROM ${dialect.relation('mirror_forms')}
     WHERE form_id = $1 AND losses IS NOT NULL LIMIT 1`,
    [formId],
  );
  return rows.length === 0;
}

/** Writes the first entries of rows that have none for certain. */
export async function beginStatuses(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, table, at }: ChangedTable,
  rows: readonly StatusOfRow[],
): Promise<void> {
  const columns = ['form_id', 'submission_id', 'status', 'seen_at'];
  const texts = rows.map(({ id, status }) => [formId, id, status, at]);
  if ((await dialect.addRows?.(tx, 'mirror_status_history', columns, texts)) === true) return;
  const ids = rows.map(({ id }) => id);
  for (const piece of piecesOf(ids, ROWS_A_STATEMENT)) {
    await run(
      tx,
      `INSERT INTO ${historyOf(dialect)} (${columns.join(', ')})
       SELECT $1, id, status, $2 FROM ${dialect.relation(table)} WHERE ${dialect.isIn('id', '$3')}`,
      [formId, dialect.timeValue(at), dialect.list(piece)],
    );
  }
}

/**
 * Writes an entry for each of these rows whose status is not that of its last one. `wasLive`: none of them was marked
 * deleted until now, so that the last proven comparison has seen each in its former status, unless it is listed: then it may not have met it.
 * Asks the index by submission, see {@link SqlDialect.ensureHistoryIndex}.
 */
export async function recordStatuses(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, table, at }: ChangedTable,
  ids: readonly string[],
  { wasLive }: { readonly wasLive: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  const history = historyOf(dialect);
  const proven = `(SELECT c.full_proven_at FROM ${dialect.relation('mirror_checkpoints')} AS c
    WHERE c.form_id = $1 AND c.full_proven_at > t.held_at AND c.full_proven_at <= $2 AND c.withheld = 0
      AND NOT EXISTS (SELECT 1 FROM ${dialect.relation('mirror_rejected')} AS r
        WHERE r.form_id = $1 AND r.submission_id = t.id))`;
  const otherwise = wasLive ? `coalesce(${proven}, t.held_at)` : 't.held_at';
  const of = (column: string): string =>
    `(SELECT h.${column} FROM ${history} AS h WHERE h.id = l.last)`;
  // Looked up row by row, whatever the planner makes of a table that was just filled; the sum keeps PostgreSQL from
  // looking for the newest entry of all, and on from there.
  const last = `SELECT id, status, (SELECT max(e.id + 0) FROM ${history} AS e WHERE e.submission_id = o.id AND e.form_id = $1) AS last
    FROM ${dialect.relation(table)} AS o WHERE ${dialect.isIn('id', '$3')}`;
  const held = `SELECT l.id, l.status, ${of('status')} AS held, ${of('seen_at')} AS held_at FROM (${last}) AS l`;
  for (const piece of piecesOf(ids, ROWS_A_STATEMENT)) {
    await run(
      tx,
      `INSERT INTO ${history} (form_id, submission_id, status, not_before, seen_at)
       SELECT $1, t.id, t.status, CASE WHEN t.held_at <= $2 THEN ${otherwise} END, $2
       FROM (${held}) AS t WHERE t.held IS NULL OR t.held <> t.status`,
      [formId, dialect.timeValue(at), dialect.list(piece)],
    );
  }
}

/** Notes since when a form has its history: of a new one, from its first row on. */
export async function noteStatusesSince(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  since: string | null,
): Promise<void> {
  await tx.query(
    `UPDATE ${dialect.relation('mirror_forms')} SET statuses_since = $1 WHERE form_id = $2`,
    [dialect.timeValue(since), formId],
  );
}

/**
 * After a pass that has compared everything since `since` (ISO): gives the rows of a form whose history people dropped
 * their first entries.
 */
export async function completeStatuses(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, table, since }: { formId: string; table: string; since: string },
): Promise<void> {
  const [form] = await tx.query(
    `SELECT ${dialect.timeText('statuses_since')} AS since FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1`,
    [formId],
  );
  if (form === undefined || textOrNull(form, 'since') !== null) return;
  await dialect.ensureHistoryIndex?.(tx);
  await tx.query(
    `INSERT INTO ${historyOf(dialect)} (form_id, submission_id, status, seen_at)
     SELECT $1, t.id, t.status, $2 FROM ${dialect.relation(table)} AS t
     WHERE t._deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM ${historyOf(dialect)} AS h WHERE h.submission_id = t.id AND h.form_id = $1)
       AND NOT EXISTS (SELECT 1 FROM ${dialect.relation('mirror_rejected')} AS r
         WHERE r.form_id = $1 AND r.submission_id = t.id AND r.stored = $3)`,
    [formId, dialect.timeValue(since), dialect.boolean(false)],
  );
  await noteStatusesSince(tx, dialect, formId, since);
}

/** How many entries one step of {@link pruneStatuses} removes. */
const PRUNED_AT_ONCE = 1_000;

/**
 * Removes entries that another one had followed before `before` (ISO), so that what is left still tells every status since
 * then; some of them, from behind `after` on. Where to go on; undefined: there are no more.
 */
export async function pruneStatuses(
  tx: SqlSession,
  dialect: SqlDialect,
  { formId, before, after }: { formId: string; before: string; after: string },
): Promise<{ readonly pruned: number; readonly next: string | undefined }> {
  const history = historyOf(dialect);
  const rows = await tx.query(
    `SELECT h.id AS nth FROM ${history} AS h
     WHERE h.form_id = $1 AND h.seen_at < $2 AND h.id > $3 AND EXISTS (
       SELECT 1 FROM ${history} AS n
       WHERE n.submission_id = h.submission_id AND n.form_id = $1 AND n.id > h.id AND n.seen_at < $2)
     ORDER BY h.id LIMIT ${PRUNED_AT_ONCE}`,
    [formId, dialect.timeValue(before), after],
  );
  const ids = rows.map((row) => String(row['nth']));
  if (ids.length > 0) {
    await tx.query(`DELETE FROM ${history} WHERE id IN ${placeholders(1, ids.length)}`, ids);
  }
  return { pruned: ids.length, next: ids.length < PRUNED_AT_ONCE ? undefined : ids.at(-1) };
}
