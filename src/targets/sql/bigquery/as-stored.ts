import type { RowsAsStored } from '../../../mirror/as-stored.ts';
import type { Row } from '../../../mirror/types.ts';
import { typeOf } from '../answer-parts.ts';
import { newField } from '../as-stored.ts';
import type { ColumnType } from '../field-column.ts';
import { storableBatch } from '../row-batch.ts';
import { cellKey, LIMITS, storedCell } from './answer-values.ts';
import type { StateField } from './form-state.ts';

/** What `rows` would be as the form's table holds rows; of its `fields` those that are asked about, of which some may be new. */
export function asStoredRows(
  fields: readonly StateField[],
  rows: readonly Row[],
  fieldIds: readonly string[],
): RowsAsStored {
  const known = new Map(fields.map((field) => [field.id, field]));
  const columns = fieldIds.map((id) => known.get(id) ?? newField(id));
  const batch = storableBatch(rows, columns, LIMITS).rows;
  const types = new Map<string, ColumnType>();
  for (const [at, { id, type }] of columns.entries()) {
    const met = batch.values().map((row) => typeOf(row?.cells[at] ?? null));
    types.set(id, type ?? met.find((one) => one !== null) ?? null);
  }
  return {
    rows: batch.map(
      (row) =>
        row && {
          id: row.id,
          status: row.status,
          createdAt: row.createdAt,
          cells: new Map(
            fieldIds.map((id, at) => [
              id,
              storedCell(types.get(id) ?? null, row.cells[at] ?? null),
            ]),
          ),
        },
    ),
    isSame(fieldId, stored, coming) {
      const type = types.get(fieldId) ?? null;
      return cellKey(type, stored) === cellKey(type, coming);
    },
  };
}
