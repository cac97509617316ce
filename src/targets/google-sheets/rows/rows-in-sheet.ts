import type { RowsAsStored } from '../../../mirror/as-stored.ts';
import type { Cell, Row } from '../../../mirror/types.ts';
import { fitText, fromRead, holds, toSheetValue } from '../api/cell-value.ts';
import type { FieldCatalogue } from '../columns/field-catalogue.ts';
import { answerOf, isStorableId, timeOf } from './row-values.ts';
import type { SerialTime } from './serial-time.ts';

/** What tells how a tab holds answers and times. */
interface Holding {
  readonly catalogue: FieldCatalogue;
  readonly time: SerialTime;
}

/** What `rows` would be as a tab shows them, over these fields. */
export function rowsInSheet(
  rows: readonly Row[],
  fieldIds: readonly string[],
  { catalogue, time }: Holding,
): RowsAsStored {
  const contents = new Map(catalogue.fields.map(({ id, content }) => [id, content]));
  const asCell = (id: string, cell: Cell): Cell =>
    answerOf(toSheetValue(cell).value, contents.get(id) ?? 'none');
  return {
    rows: rows.map((row) =>
      isStorableId(row.id)
        ? {
            id: row.id,
            status: fitText(row.status).text,
            createdAt: row.createdAt && timeOf(time.toSerial(row.createdAt) ?? row.createdAt, time),
            cells: new Map(fieldIds.map((id) => [id, asCell(id, row.cells.get(id) ?? null)])),
          }
        : undefined,
    ),
    isSame: (_fieldId, stored, coming) =>
      holds(fromRead(toSheetValue(stored).value), toSheetValue(coming).value),
  };
}
