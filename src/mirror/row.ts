import { canonicalTime } from './canonical-time.ts';
import { toCell } from './cell.ts';
import { hashedCell } from './hashing.ts';
import type { Cell, PickedField, Rejection, Row, Submission } from './types.ts';

/** A submission joined with the picked fields. `rejections`: what could not be stored as it was, each `stored: true`. */
export interface JoinedRow {
  readonly row: Row;
  readonly rejections: readonly Rejection[];
}

/**
 * The join: takes the picked answers of a submission and nothing else (L11). `defects` are what the client found wrong
 * with the item. Throws TypeError when a field is hashed and `hashKey` is missing.
 */
export function joinRow(
  submission: Submission,
  defects: readonly string[],
  fields: readonly PickedField[],
  hashKey: string | undefined,
): JoinedRow {
  const reasons = [...defects];
  const cells = new Map<string, Cell>();
  for (const field of fields) {
    const cell = wellFormed(toCell(submission.data.get(field.id)), reasons);
    if (cell === null) continue;
    cells.set(field.id, field.hashed ? hashedCell(cell, requireKey(hashKey)) : cell);
  }
  const createdAt = canonicalTime(submission.createdAt);
  const row = { id: submission.id, status: submission.status.toWellFormed(), createdAt, cells };
  const rejections = [...new Set(reasons)].map((reason) => ({
    submissionId: submission.id,
    reason,
    stored: true,
  }));
  return { row, rejections };
}

/** No target can hold half a surrogate pair; it becomes U+FFFD, visibly (L10). */
function wellFormed(cell: Cell, reasons: string[]): Cell {
  if (typeof cell !== 'string' || cell.isWellFormed()) return cell;
  reasons.push('an answer holds half a character (a lone surrogate), replaced by U+FFFD');
  return cell.toWellFormed();
}

function requireKey(key: string | undefined): string {
  if (key === undefined) throw new TypeError('hashed fields need a hash key');
  return key;
}
