import type { SqlDialect } from './dialect.ts';
import { isStorableId } from './row-batch.ts';
import { piecesOf, type SqlSession, textOf } from './sql-session.ts';
import { requireNone } from './swallowed-writes.ts';

/** IDs changed by one statement. */
const IDS_A_STATEMENT = 1_000;

/** Marks rows of a table deleted, those that are not yet; their IDs. `at`: the time of the change. */
export async function markRowsDeleted(
  tx: SqlSession,
  dialect: SqlDialect,
  table: string,
  ids: readonly string[],
  { deletedAt, at }: { readonly deletedAt: string; readonly at: string },
): Promise<string[]> {
  const marked: string[] = [];
  for (const piece of piecesOf(storable(ids, dialect), IDS_A_STATEMENT)) {
    const rows = await tx.query(
      `UPDATE ${dialect.relation(table)} SET _deleted_at = $1, _changed_at = $2
       WHERE ${dialect.isIn('id', '$3')} AND _deleted_at IS NULL RETURNING id`,
      [dialect.timeValue(deletedAt), dialect.timeValue(at), dialect.list(piece)],
    );
    marked.push(...rows.map((row) => textOf(row, 'id')));
    await requireNone(tx, dialect, table, [
      `${dialect.isIn('id', '$1')} AND _deleted_at IS NULL`,
      [dialect.list(piece)],
    ]);
  }
  return marked;
}

/** Gives rows of a table this status, those that have another; their IDs. */
export async function setRowStatuses(
  tx: SqlSession,
  dialect: SqlDialect,
  table: string,
  ids: readonly string[],
  { status, at }: { readonly status: string; readonly at: string },
): Promise<string[]> {
  const changed: string[] = [];
  for (const piece of piecesOf(storable(ids, dialect), IDS_A_STATEMENT)) {
    const rows = await tx.query(
      `UPDATE ${dialect.relation(table)} SET status = $1, _changed_at = $2
       WHERE ${dialect.isIn('id', '$3')} AND status IS DISTINCT FROM $1 RETURNING id`,
      [status, dialect.timeValue(at), dialect.list(piece)],
    );
    changed.push(...rows.map((row) => textOf(row, 'id')));
    await requireNone(tx, dialect, table, [
      `${dialect.isIn('id', '$2')} AND status IS DISTINCT FROM $1`,
      [status, dialect.list(piece)],
    ]);
  }
  return changed;
}

const storable = (ids: readonly string[], dialect: SqlDialect): string[] =>
  ids.filter((id) => isStorableId(id, dialect));
