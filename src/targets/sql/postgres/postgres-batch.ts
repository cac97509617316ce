import type { Cell } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { encodeMore } from '../more-column.ts';
import { encodePostgresCell, fitsNumeric } from './postgres-cells.ts';

/** What one statement takes: cells, and characters of text. Bounds the memory here and at the server. */
const CELLS_A_STATEMENT = 100_000;
const CHARACTERS_A_STATEMENT = 8_000_000;

/** A column of the batch: its name, its type at the server, and its value for a row. */
export interface BatchColumn {
  readonly name: string;
  readonly type: 'text' | 'timestamptz' | 'numeric' | 'jsonb';
  readonly valueOf: (row: StorableRow) => string | null;
}

/** The answers of a batch that go to the overflow column. */
export interface MoreFields {
  /** Their keys. */
  readonly keys: readonly string[];
  /** True when it holds others, which are not written now and stay. */
  readonly keepsOthers: boolean;
}

/** What a batch writes, and where. */
export interface BatchTable {
  readonly schema: string;
  readonly table: string;
  /** `id` first, then status, date and answers, the overflow column last. */
  readonly columns: readonly BatchColumn[];
  readonly more: MoreFields;
}

/** The table of a form, to write these fields of it. */
export function batchTable(
  schema: string,
  form: FormTable,
  fields: readonly FieldColumn[],
): BatchTable {
  const columns: BatchColumn[] = [
    { name: 'id', type: 'text', valueOf: (row) => row.id },
    { name: 'status', type: 'text', valueOf: (row) => row.status },
    { name: 'created_at', type: 'timestamptz', valueOf: (row) => row.createdAt },
    ...fields.flatMap((field, index) => (field.storage === 'more' ? [] : ownColumns(field, index))),
  ];
  const inMore = fields.flatMap(({ storage, column }, index) =>
    storage === 'more' ? [{ key: column, index }] : [],
  );
  const all = form.fields.filter((field) => field.storage === 'more');
  if (inMore.length > 0) {
    const order = form.fields.map((field) => field.column);
    const answersOf = (row: StorableRow): Map<string, Cell> =>
      new Map(inMore.map(({ key, index }) => [key, row.cells[index] ?? null]));
    columns.push({
      name: MORE_COLUMN,
      type: 'jsonb',
      valueOf: (row) => encodeMore(answersOf(row), order),
    });
  }
  const more = { keys: inMore.map(({ key }) => key), keepsOthers: inMore.length < all.length };
  return { schema, table: form.table, columns, more };
}

function ownColumns(field: FieldColumn, index: number): BatchColumn[] {
  const cellOf = (row: StorableRow): Cell => row.cells[index] ?? null;
  const own: BatchColumn = {
    name: field.column,
    type: field.type === 'number' ? 'numeric' : 'text',
    valueOf: (row) => encodePostgresCell(cellOf(row)),
  };
  if (field.numberColumn === null) return [own];
  const valueOf = (row: StorableRow): string | null =>
    fitsNumeric(cellOf(row)) ? encodePostgresCell(cellOf(row)) : null;
  return [own, { name: field.numberColumn, type: 'numeric', valueOf }];
}

/** The rows in pieces, each for one statement, in order. */
export function* statementPieces(
  rows: readonly StorableRow[],
  width: number,
): Generator<readonly StorableRow[]> {
  const maxRows = Math.max(1, Math.floor(CELLS_A_STATEMENT / width));
  let piece: StorableRow[] = [];
  let characters = 0;
  for (const row of rows) {
    let size = 0;
    for (const cell of row.cells) size += typeof cell === 'string' ? cell.length : 20;
    const isFull = piece.length >= maxRows || characters + size > CHARACTERS_A_STATEMENT;
    if (isFull && piece.length > 0) {
      yield piece;
      piece = [];
      characters = 0;
    }
    piece.push(row);
    characters += size;
  }
  if (piece.length > 0) yield piece;
}
