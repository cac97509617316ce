import type { RowOutcome } from '../../../mirror/target.ts';
import type { Cell } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { encodeMore } from '../more-column.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { booleanOf, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { encodePostgresCell, fitsNumeric } from './postgres-cells.ts';
import { qualified } from './postgres-names.ts';

/** What one statement takes: cells, and characters of text. Bounds the memory here and at the server. */
const CELLS_A_STATEMENT = 100_000;
const CHARACTERS_A_STATEMENT = 8_000_000;

/** A column of the batch: its name, its type at the server, and its value for a row. */
interface BatchColumn {
  readonly name: string;
  readonly type: 'text' | 'timestamptz' | 'numeric' | 'jsonb';
  readonly valueOf: (row: StorableRow) => string | null;
}

/** See {@link SqlDialect.upsert}: the server compares, and only rows that differ are touched or locked. */
export async function upsertIntoPostgres(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  fields: readonly FieldColumn[],
  rows: readonly StorableRow[],
  at: string,
): Promise<RowOutcome[]> {
  const columns = batchColumns(form, fields);
  const statement = upsertStatement(schema, form, columns, keptKeys(form, fields));
  const outcomes: RowOutcome[] = [];
  for (const piece of statementPieces(rows, columns.length)) {
    const params = columns.map((column) => piece.map((row) => column.valueOf(row)));
    const changed = await tx.query(statement, [...params, at]);
    const [first] = changed;
    const swallowed = first === undefined ? 0 : changed.length - numberOf(first, '_stored');
    if (swallowed > 0) throw new SwallowedWrites(`${schema}.${form.table}`, swallowed);
    const byId = new Map(changed.map((row) => [textOf(row, 'id'), outcomeOf(row)]));
    for (const row of piece) outcomes.push(byId.get(row.id) ?? 'unchanged');
  }
  return outcomes;
}

function outcomeOf(row: Parameters<typeof booleanOf>[0]): RowOutcome {
  if (booleanOf(row, '_is_new')) return 'inserted';
  return booleanOf(row, '_was_deleted') ? 'restored' : 'updated';
}

function batchColumns(form: FormTable, fields: readonly FieldColumn[]): BatchColumn[] {
  const columns: BatchColumn[] = [
    { name: 'id', type: 'text', valueOf: (row) => row.id },
    { name: 'status', type: 'text', valueOf: (row) => row.status },
    { name: 'created_at', type: 'timestamptz', valueOf: (row) => row.createdAt },
  ];
  fields.forEach((field, index) => {
    if (field.storage === 'more') return;
    const cellOf = (row: StorableRow): Cell => row.cells[index] ?? null;
    const isNumber = field.type === 'number';
    columns.push({
      name: field.column,
      type: isNumber ? 'numeric' : 'text',
      valueOf: (row) => encodePostgresCell(cellOf(row)),
    });
    if (field.numberColumn === null) return;
    columns.push({
      name: field.numberColumn,
      type: 'numeric',
      valueOf: (row) => (fitsNumeric(cellOf(row)) ? encodePostgresCell(cellOf(row)) : null),
    });
  });
  const more = fields.flatMap((field, index) =>
    field.storage === 'more' ? [{ name: field.column, index }] : [],
  );
  if (more.length === 0) return columns;
  const order = form.fields.map((field) => field.column);
  const valueOf = (row: StorableRow): string | null =>
    encodeMore(new Map(more.map(({ name, index }) => [name, row.cells[index] ?? null])), order);
  return [...columns, { name: MORE_COLUMN, type: 'jsonb', valueOf }];
}

/** True when the overflow column holds answers that are not written now. */
function keptKeys(form: FormTable, fields: readonly FieldColumn[]): readonly string[] | undefined {
  const written = fields.filter((field) => field.storage === 'more');
  const all = form.fields.filter((field) => field.storage === 'more');
  return written.length < all.length ? written.map((field) => field.column) : undefined;
}

/**
 * `unnest` takes a batch of any size with one parameter a column. Rows are compared before they are inserted: an
 * ON CONFLICT … WHERE alone would lock, and so write to, rows that stay as they are (L4). They are locked in the order of
 * their IDs, as by every other writer; one that another writer inserted meanwhile is new there, not here (a row that was
 * inserted has no `xmax`).
 */
function upsertStatement(
  schema: string,
  form: FormTable,
  columns: readonly BatchColumn[],
  replacedKeys: readonly string[] | undefined,
): string {
  const table = qualified(schema, form.table);
  const names = columns.map((column) => quoted(column.name));
  const at = `$${columns.length + 1}::timestamptz`;
  const incoming = columns.map((column) =>
    column.name === MORE_COLUMN && replacedKeys !== undefined
      ? mergedMore(replacedKeys)
      : `b.${quoted(column.name)}`,
  );
  const own = names.slice(1);
  const arrays = columns.map((column, index) => `$${index + 1}::${column.type}[]`);
  return `WITH changed AS MATERIALIZED (
      SELECT ${incoming.map((value, index) => `${value} AS ${names[index] ?? ''}`).join(', ')},
        t.id IS NULL AS _is_new, t._deleted_at IS NOT NULL AS _was_deleted
      FROM unnest(${arrays.join(', ')}) AS b(${names.join(', ')}) LEFT JOIN ${table} AS t ON t.id = b.id
      WHERE t.id IS NULL OR t._deleted_at IS NOT NULL
        OR (${own.map((name) => `t.${name}`).join(', ')}) IS DISTINCT FROM (${incoming.slice(1).join(', ')})
    ), stored AS (
      INSERT INTO ${table} (${names.join(', ')}, _first_seen_at, _changed_at)
      SELECT ${names.join(', ')}, ${at}, ${at} FROM changed ORDER BY id
      ON CONFLICT (id) DO UPDATE SET ${own.map((name) => `${name} = excluded.${name}`).join(', ')},
        _changed_at = excluded._changed_at, _deleted_at = NULL
      RETURNING id, xmax = 0 AS _is_new
    )
    SELECT changed.id, coalesce(stored._is_new, changed._is_new) AS _is_new, _was_deleted,
      (SELECT count(*) FROM stored) AS _stored
    FROM changed LEFT JOIN stored ON stored.id = changed.id`;
}

/** The stored object with the written keys replaced; names are plain, so that they need no escape. */
function mergedMore(replacedKeys: readonly string[]): string {
  const keys = `ARRAY[${replacedKeys.map((key) => `'${key}'`).join(', ')}]::text[]`;
  const kept = `coalesce(t.${MORE_COLUMN}, '{}') - ${keys}`;
  return `nullif((${kept}) || coalesce(b.${MORE_COLUMN}, '{}'), '{}')`;
}

function* statementPieces(
  rows: readonly StorableRow[],
  width: number,
): Generator<readonly StorableRow[]> {
  const maxRows = Math.max(1, Math.floor(CELLS_A_STATEMENT / width));
  let piece: StorableRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const size = row.cells.reduce<number>(
      (sum, cell) => sum + (typeof cell === 'string' ? cell.length : 20),
      0,
    );
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
