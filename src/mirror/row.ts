import type { StoredRow } from './port.ts';
import { hashedCell, sameCell, toCell } from './cells.ts';
import type { Cell, SelectedField, Row, Submission } from './types.ts';

/** A submission joined with the selected fields. */
export interface JoinedRow {
  readonly row: Row;
  /** The parts that are not stored unchanged, each as a sentence without any answer. */
  readonly reasons: readonly string[];
}

const HALF_A_CHARACTER = 'an answer holds half a character (a lone surrogate), replaced by U+FFFD';

/**
 * The join: takes the selected answers of a submission and nothing else (L11). `defects` are those that the client found
 * in the item. Throws TypeError when a field is hashed and `hashKey` is missing.
 */
export function joinRow(
  submission: Submission,
  defects: readonly string[],
  fields: readonly SelectedField[],
  hashKey: string | undefined,
): JoinedRow {
  const cells = new Map<string, Cell>();
  let isHalved = false;
  for (const { id, hashed } of fields) {
    let cell = toCell(submission.data.get(id));
    if (typeof cell === 'string' && !cell.isWellFormed()) {
      // No target can hold half a surrogate pair; it becomes U+FFFD, visibly (L10).
      isHalved = true;
      cell = cell.toWellFormed();
    }
    if (hashed && cell !== null) cell = hashedCell(cell, requireKey(hashKey));
    if (cell !== null) cells.set(id, cell);
  }
  const row = {
    id: submission.id,
    status: submission.status.toWellFormed(),
    createdAt: submission.createdAt,
    cells,
  };
  if (defects.length === 0 && !isHalved) return { row, reasons: [] };
  const reasons = new Set(isHalved ? [...defects, HALF_A_CHARACTER] : defects);
  return { row, reasons: [...reasons] };
}

function requireKey(key: string | undefined): string {
  if (key === undefined) throw new TypeError('hashed fields need a hash key');
  return key;
}

/** The differences between a submission and its stored row: names of system columns and IDs of fields, never values. */
export interface RowDifference {
  /** Of `status`, `created_at`, `_deleted_at`. */
  readonly columns: readonly string[];
  readonly fieldIds: readonly string[];
}

/** Compares a row as it should be with the stored one, over the given fields. Both lists are empty where they agree. */
export const compareRow = (
  row: Row,
  stored: StoredRow,
  fieldIds: Iterable<string>,
): RowDifference => ({
  columns: [
    ...(row.status === stored.status ? [] : ['status']),
    ...(row.createdAt === stored.createdAt ? [] : ['created_at']),
    ...(stored.deletedAt === null ? [] : ['_deleted_at']),
  ],
  fieldIds: [...fieldIds].filter(
    (id) => !sameCell(stored.cells.get(id) ?? null, row.cells.get(id) ?? null),
  ),
});
