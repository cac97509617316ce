import type { RowsAsStored } from '../../mirror/as-stored.ts';
import { cellText, isBlank, sameCell } from '../../mirror/cell.ts';
import { decimalText } from '../../mirror/numbers.ts';
import { type Cell, JsonText, type Row } from '../../mirror/types.ts';
import { textBeside, typeOf } from './answer-parts.ts';
import type { SqlDialect, StorableRow } from './dialect.ts';
import type { ColumnType, FieldColumn } from './field-column.ts';
import { storableBatch } from './row-batch.ts';

/** A field as a batch would find it: a column that holds nothing yet gets its type from the batch. */
interface MetField {
  readonly id: string;
  readonly type: ColumnType;
  readonly isInMore: boolean;
}

/** What `rows` would be as the form's table holds rows; of its `fields` those that are asked about, of which some may be new. */
export function rowsAsStored(
  dialect: SqlDialect,
  fields: readonly FieldColumn[],
  rows: readonly Row[],
  fieldIds: readonly string[],
): RowsAsStored {
  const known = new Map(fields.map((field) => [field.id, field]));
  const columns = fieldIds.map((id) => known.get(id) ?? newField(id));
  const batch = storableBatch(rows, columns, dialect).rows;
  const met = columns.map(({ id, type, storage }, at): MetField => {
    const cells = batch.values().map((row) => row?.cells[at] ?? null);
    const first = type === null ? cells.map(typeOf).find((one) => one !== null) : type;
    return { id, type: first ?? null, isInMore: storage === 'more' };
  });
  const types = new Map(met.map(({ id, type }) => [id, type]));
  return {
    rows: batch.map((row) => row && asRow(row, met, dialect)),
    isSame(fieldId, stored, coming) {
      const type = types.get(fieldId) ?? null;
      const hasNoBlanks = type === 'number' || type === 'json';
      if (hasNoBlanks && isBlank(stored) && isBlank(coming)) return true;
      if (kindOf(stored) !== kindOf(coming)) return false;
      if (stored instanceof JsonText && !dialect.keepsJsonText) return sameCell(stored, coming);
      return cellText(stored) === cellText(coming);
    },
  };
}

const kindOf = (cell: Cell): string =>
  cell === null || typeof cell === 'string'
    ? typeof cell
    : cell instanceof JsonText
      ? 'json'
      : 'number';

/** What is looked at of a field that has no column yet. */
export const newField = (id: string): FieldColumn => ({
  id,
  label: id,
  position: 0,
  ordinal: 0,
  column: id,
  storage: 'column',
  type: null,
  textColumn: null,
  textStorage: 'column',
  viewLabel: null,
  textViewLabel: null,
  removedAt: null,
});

const asRow = (row: StorableRow, fields: readonly MetField[], dialect: SqlDialect): Row => ({
  id: row.id,
  status: row.status,
  createdAt: row.createdAt,
  cells: new Map(
    fields.map((field, at) => [field.id, asCell(field, row.cells[at] ?? null, dialect)]),
  ),
});

/** An answer as it is read back. */
function asCell({ type, isInMore }: MetField, cell: Cell, dialect: SqlDialect): Cell {
  if (cell === null) return null;
  // The overflow column tells numbers from texts by itself, and holds JSON as a text.
  if (isInMore) return cell instanceof JsonText ? cell.text : cell;
  if (type === null || type === 'text') return cellText(cell);
  const beside = textBeside(type, cell, dialect);
  if (beside === null) return isBlank(cell) ? null : cell;
  // A number with more digits than its column holds is read back from beside it with all of them.
  return type === 'number' && typeof cell !== 'string' && beside === numberText(cell)
    ? cell
    : beside;
}

const numberText = (cell: Cell): string | null =>
  cell === null || typeof cell === 'string' || cell instanceof JsonText ? null : decimalText(cell);
