import type { StoredField, StoredRow } from '../mirror/port.ts';
import type { RowDifference } from '../mirror/row.ts';
import type { Difference } from './verify.ts';
import type { Cell, PickedField, Row } from '../mirror/types.ts';

/** A cell that a run would change: of a system column (`fieldId` is null), or of a field, by its label. */
export interface ForeseenCell {
  readonly column: string;
  readonly fieldId: string | null;
  readonly before: Cell;
  readonly after: Cell;
}

/** What a run would do to a row: `restored` takes the mark of deletion away. */
export const FORESEEN = ['inserted', 'updated', 'restored', 'deleted'] as const;

/** What a dry run found. It may hold answers: it is for the person who asked, and for no log or event (L11). */
export interface ForeseenChange {
  readonly kind: (typeof FORESEEN)[number];
  readonly submissionId: string;
  /** Of a row that is there and would be changed or restored; in the order of the columns. */
  readonly cells: readonly ForeseenCell[];
}

/** The cells in which a row that is there would be another. */
function foreseenCells(
  { columns, fieldIds }: RowDifference,
  before: StoredRow,
  after: Row,
  fields: readonly Pick<PickedField, 'id' | 'label'>[],
): ForeseenCell[] {
  const labels = new Map(fields.map(({ id, label }) => [id, label]));
  const values: Readonly<Record<string, readonly [Cell, Cell]>> = {
    status: [before.status, after.status],
    created_at: [before.createdAt, after.createdAt],
    _deleted_at: [before.deletedAt, null],
  };
  return [
    ...columns.map((column) => {
      const [was = null, is = null] = values[column] ?? [];
      return { column, fieldId: null, before: was, after: is };
    }),
    ...fieldIds.map((fieldId) => ({
      column: labels.get(fieldId) ?? fieldId,
      fieldId,
      before: before.cells.get(fieldId) ?? null,
      after: after.cells.get(fieldId) ?? null,
    })),
  ];
}

/** A difference as what a run would do about it. `fields`: as the target knows them. */
export function foreseenOf(
  { id, stored, row, columns, fieldIds }: Difference,
  fields: readonly StoredField[],
): ForeseenChange {
  if (row === null) return { kind: 'deleted', submissionId: id, cells: [] };
  if (stored === null) return { kind: 'inserted', submissionId: id, cells: [] };
  const isRestored = stored.deletedAt !== null;
  const differing = { columns: isRestored ? [...columns, '_deleted_at'] : columns, fieldIds };
  const cells = foreseenCells(differing, stored, row, fields);
  return { kind: isRestored ? 'restored' : 'updated', submissionId: id, cells };
}
