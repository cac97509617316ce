import type { RowOutcome } from '../../mirror/target.ts';
import type { Rejection } from '../../mirror/types.ts';
import type { SqlDialect, StorableRow } from './dialect.ts';
import { inSavepoint, type SqlSession } from './sql-session.ts';

/** What became of rows, in their order, and why some were refused. */
export interface StoredBatch {
  readonly outcomes: readonly RowOutcome[];
  readonly rejections: readonly Rejection[];
}

/**
 * Stores rows so that one which the database refuses costs no other (L6): a refused batch is split in halves until the
 * row is found. Errors that no single row causes (connection, disk, rights) are passed on.
 */
export async function storeRows(
  tx: SqlSession,
  dialect: SqlDialect,
  rows: readonly StorableRow[],
  upsert: (rows: readonly StorableRow[]) => Promise<RowOutcome[]>,
): Promise<StoredBatch> {
  if (rows.length === 0) return { outcomes: [], rejections: [] };
  try {
    const outcomes = await inSavepoint(tx, () => upsert(rows));
    return { outcomes, rejections: [] };
  } catch (error) {
    const defect = dialect.rowDefect(error);
    if (defect === undefined) throw error;
    const [only, second] = rows;
    if (only !== undefined && second === undefined) {
      const rejection = { submissionId: only.id, reason: defect, stored: false };
      return { outcomes: ['rejected'], rejections: [rejection] };
    }
  }
  const middle = Math.ceil(rows.length / 2);
  const first = await storeRows(tx, dialect, rows.slice(0, middle), upsert);
  const rest = await storeRows(tx, dialect, rows.slice(middle), upsert);
  return {
    outcomes: [...first.outcomes, ...rest.outcomes],
    rejections: [...first.rejections, ...rest.rejections],
  };
}
