import type { RowsAsStored } from './as-stored.ts';
import { sameCell } from './cell.ts';
import type { StoredRow } from './target.ts';
import type { Row } from './types.ts';

/** What differs between a submission and its stored row: names of system columns and IDs of fields, never values. */
export interface RowDifference {
  /** Of `id` (where another row has the same one), `status`, `created_at`, `_deleted_at`. */
  readonly columns: readonly string[];
  readonly fieldIds: readonly string[];
}

/**
 * Compares a row as it should be with the stored one, over the given fields. Undefined when they agree. `isSame`: when an
 * answer to a field does.
 */
export function compareRow(
  row: Row,
  stored: StoredRow,
  fieldIds: readonly string[],
  isSame: RowsAsStored['isSame'] = (_fieldId, was, is) => sameCell(was, is),
): RowDifference | undefined {
  const columns = [
    ...(stored.isDoubled === true ? ['id'] : []),
    ...(row.status === stored.status ? [] : ['status']),
    ...(row.createdAt === stored.createdAt ? [] : ['created_at']),
    ...(stored.deletedAt === null ? [] : ['_deleted_at']),
  ];
  const differing = fieldIds.filter(
    (id) => !isSame(id, stored.cells.get(id) ?? null, row.cells.get(id) ?? null),
  );
  if (columns.length === 0 && differing.length === 0) return undefined;
  return { columns, fieldIds: differing };
}
