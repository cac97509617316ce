import { viewLabels } from '../../mirror/column-names.ts';
import type { FormSnapshot, StoredField, StoredRow } from '../../mirror/port.ts';
import type { Cell } from '../../mirror/types.ts';

/** The database names of our own columns; the last one comes after the fields. */
const SYSTEM = ['id', 'status', 'created_at', '_deleted_at'];

/** A form's tab in one reading, with the rows in people's order. */
export function sheetSnapshot(
  all: readonly StoredField[],
  live: readonly StoredRow[],
  removed: readonly StoredRow[],
): FormSnapshot {
  const fields = all
    .filter(({ column }) => column !== null)
    .toSorted((a, b) => a.position - b.position);
  const labels = viewLabels(fields, SYSTEM, Number.POSITIVE_INFINITY);
  const system = SYSTEM.map((name) => ({ name, label: name }));
  const own = fields.map(({ id }, at) => ({ name: id, label: labels[at] ?? id }));
  const cellsOf = (row: StoredRow): Cell[] => [
    row.id,
    row.status,
    row.createdAt,
    ...fields.map(({ id }) => row.cells.get(id) ?? null),
    row.deletedAt,
  ];
  return {
    columns: [...system.slice(0, 3), ...own, ...system.slice(3)],
    async *rows({ withDeleted }) {
      yield live.map(cellsOf);
      if (withDeleted) yield removed.map(cellsOf);
    },
    async [Symbol.asyncDispose]() {},
  };
}
