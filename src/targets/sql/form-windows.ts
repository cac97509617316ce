import type { WindowRecord } from '../../mirror/window.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import {
  booleanOf,
  numberOf,
  piecesOf,
  placeholders,
  type SqlRow,
  type SqlSession,
  textOrNull,
} from './sql-session.ts';

/*
 * `mirror_windows`: the windows that a form is read in, in order of time, and when each was proven. A form that is read
 * whole has none; one that can't be read in windows has a single one, which says since when that is known.
 */

/** Windows written by one statement. */
const WINDOWS_A_STATEMENT = 200;

/** A form's windows, in order of time. */
export async function readWindows(
  { session, dialect }: Catalogue,
  formId: string,
): Promise<WindowRecord[]> {
  const time = (column: string): string => `${dialect.timeText(column)} AS ${column}`;
  const rows = await session.query(
    `SELECT ${['from_at', 'to_at', 'proven_at', 'failed_at'].map(time).join(', ')},
       total, proven_for, deleted, absent, is_open, unstored
     FROM ${dialect.relation('mirror_windows')} WHERE form_id = $1 ORDER BY ordinal`,
    [formId],
  );
  return rows.map((row) => toWindow(row, dialect));
}

function toWindow(row: SqlRow, dialect: SqlDialect): WindowRecord {
  return {
    from: dialect.time(row['from_at']),
    to: dialect.time(row['to_at']),
    total: numberOf(row, 'total'),
    provenAt: dialect.time(row['proven_at']),
    provenFor: textOrNull(row, 'proven_for'),
    deleted: numberOf(row, 'deleted'),
    absent: numberOf(row, 'absent'),
    open: booleanOf(row, 'is_open'),
    failedAt: dialect.time(row['failed_at']),
    unstored: textOrNull(row, 'unstored'),
  };
}

/** Puts these windows in place of a form's. */
export async function replaceWindows(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  windows: readonly WindowRecord[],
): Promise<void> {
  await dropWindows(tx, dialect, formId);
  const numbered = windows.map((window, ordinal) => ({ ...window, ordinal }));
  for (const piece of piecesOf(numbered, WINDOWS_A_STATEMENT)) {
    await tx.query(
      `INSERT INTO ${dialect.relation('mirror_windows')} (form_id, ordinal, from_at, to_at, total, proven_at,
         proven_for, deleted, absent, is_open, failed_at, unstored) VALUES ${placeholders(piece.length, 12)}`,
      piece.flatMap((window) => [
        formId,
        window.ordinal,
        dialect.timeValue(window.from),
        dialect.timeValue(window.to),
        window.total,
        dialect.timeValue(window.provenAt),
        window.provenFor,
        window.deleted,
        window.absent,
        dialect.boolean(window.open),
        dialect.timeValue(window.failedAt),
        window.unstored,
      ]),
    );
  }
}

/** Updates the window with these bounds; does nothing where the form was cut otherwise meanwhile. */
export async function updateWindow(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  window: WindowRecord,
): Promise<void> {
  const { total, provenAt, provenFor, deleted, absent, open } = window;
  await tx.query(
    `UPDATE ${dialect.relation('mirror_windows')} SET total = $1, proven_at = $2, proven_for = $3, deleted = $4,
       absent = $5, is_open = $6, unstored = $7
     WHERE form_id = $8 AND from_at IS NOT DISTINCT FROM $9 AND to_at IS NOT DISTINCT FROM $10`,
    [
      total,
      dialect.timeValue(provenAt),
      provenFor,
      deleted,
      absent,
      dialect.boolean(open),
      window.unstored,
      formId,
      dialect.timeValue(window.from),
      dialect.timeValue(window.to),
    ],
  );
}

/** After a proven full pass none is open. */
export async function closeWindows(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  await tx.query(
    `UPDATE ${dialect.relation('mirror_windows')} SET is_open = $1 WHERE form_id = $2 AND is_open = $3`,
    [dialect.boolean(false), formId, dialect.boolean(true)],
  );
}

/** Takes back what was proven of a form's windows: something that was stored is gone. */
export async function reopenWindows(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  await tx.query(
    `UPDATE ${dialect.relation('mirror_windows')} SET proven_at = NULL, proven_for = NULL, deleted = 0, absent = 0,
       is_open = $1, unstored = NULL WHERE form_id = $2 AND failed_at IS NULL`,
    [dialect.boolean(true), formId],
  );
}

/** Forgets how a form was cut, and what was proven of it window by window. */
export async function dropWindows(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
): Promise<void> {
  await tx.query(`DELETE FROM ${dialect.relation('mirror_windows')} WHERE form_id = $1`, [formId]);
}
