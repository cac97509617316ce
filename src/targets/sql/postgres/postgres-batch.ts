import { cellText } from '../../../mirror/cell.ts';
import { type Cell, JsonText } from '../../../mirror/types.ts';
import { partCell, partsOf } from '../answer-parts.ts';
import type { StorableRow } from '../dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { encodeMore } from '../more-column.ts';
import { POSTGRES_LIMITS } from './postgres-cells.ts';
import { POSTGRES_TYPES } from './postgres-tables.ts';

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
  ];
  const places = new Map(fields.map((field, index) => [field, index]));
  const parts = partsOf(fields).map((part) => {
    const index = places.get(part.field) ?? -1;
    const cellOf = (row: StorableRow): Cell =>
      partCell(part, row.cells[index] ?? null, POSTGRES_LIMITS);
    return { part, cellOf };
  });
  for (const { part, cellOf } of parts) {
    const { name, storage, type } = part;
    if (storage === 'more') continue;
    const valueOf = (row: StorableRow): string | null => cellText(cellOf(row));
    columns.push({ name, type: POSTGRES_TYPES[type], valueOf });
  }
  const inMore = parts.filter(({ part }) => part.storage === 'more');
  const all = partsOf(form.fields).filter(({ storage }) => storage === 'more');
  if (inMore.length > 0) {
    const order = all.map(({ name }) => name);
    const answersOf = (row: StorableRow): Map<string, Cell> =>
      new Map(inMore.map(({ part, cellOf }) => [part.name, cellOf(row)]));
    columns.push({
      name: MORE_COLUMN,
      type: POSTGRES_TYPES.more,
      valueOf: (row) => encodeMore(answersOf(row), order),
    });
  }
  const keys = inMore.map(({ part }) => part.name);
  const more = { keys, keepsOthers: inMore.length < all.length };
  return { schema, table: form.table, columns, more };
}

/** Characters; a number has few. */
const lengthOf = (cell: Cell | undefined): number => {
  if (typeof cell === 'string') return cell.length;
  return cell instanceof JsonText ? cell.text.length : 20;
};

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
    for (const cell of row.cells) size += lengthOf(cell);
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
