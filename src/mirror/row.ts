import type { StoredRow } from './port.ts';
import { canonicalTime } from './canonical-time.ts';
import { hashedCell, sameCell, toCell } from './cells.ts';
import { FieldMap, FieldOrder, type FieldReader, readerOf } from './field-map.ts';
import type { Cell, SelectedField, Row, Submission } from './types.ts';

/** A submission joined with the selected fields. */
export interface JoinedRow {
  readonly row: Row;
  /** The parts that are not stored unchanged, each as a sentence without any answer. */
  readonly reasons: readonly string[];
}

/** What the rows of one list of fields share. */
interface JoinPlan {
  readonly order: FieldOrder;
  readonly hashed: readonly boolean[];
  readonly read: FieldReader;
  /** A cell for each field. */
  readonly empty: readonly (Cell | undefined)[];
}

const plans = new WeakMap<readonly SelectedField[], JoinPlan>();

const HALF_A_CHARACTER = 'an answer holds half a character (a lone surrogate), replaced by U+FFFD';

/**
 * The join: takes the selected answers of a submission and nothing else (L11). `defects` are those that the client found
 * in the item; `fields` must not change afterwards. The cells are a {@link FieldMap}, in one order for one list of
 * fields. Throws TypeError when a field is hashed and `hashKey` is missing.
 */
export function joinRow(
  submission: Submission,
  defects: readonly string[],
  fields: readonly SelectedField[],
  hashKey: string | undefined,
): JoinedRow {
  const { order, hashed, read, empty } = planOf(fields);
  const answers = read(submission.data);
  // With its length from the beginning: one that grows is copied several times.
  const cells = empty.slice();
  let isHalved = false;
  for (let at = 0; at < cells.length; at++) {
    let cell = toCell(answers[at]);
    if (typeof cell === 'string' && !cell.isWellFormed()) {
      // No target can hold half a surrogate pair; it becomes U+FFFD, visibly (L10).
      isHalved = true;
      cell = cell.toWellFormed();
    }
    if (hashed[at] === true && cell !== null) cell = hashedCell(cell, requireKey(hashKey));
    cells[at] = cell ?? undefined;
  }
  const row = {
    id: submission.id,
    status: submission.status.toWellFormed(),
    createdAt: canonicalTime(submission.createdAt),
    cells: new FieldMap(order, cells),
  };
  if (defects.length === 0 && !isHalved) return { row, reasons: [] };
  const reasons = new Set(isHalved ? [...defects, HALF_A_CHARACTER] : defects);
  return { row, reasons: [...reasons] };
}

function planOf(fields: readonly SelectedField[]): JoinPlan {
  let plan = plans.get(fields);
  if (plan === undefined) {
    // Of two fields with one ID the last counts.
    const byId = new Map(fields.map((field) => [field.id, field]));
    const ids = [...byId.keys()];
    const hashed = [...byId.values()].map((field) => field.hashed);
    const empty = ids.map(() => undefined);
    plan = { order: new FieldOrder(ids), hashed, read: readerOf(ids), empty };
    plans.set(fields, plan);
  }
  return plan;
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
