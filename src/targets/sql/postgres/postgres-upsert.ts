import type { RowOutcome } from '../../../mirror/target.ts';
import type { StorableRow } from '../dialect.ts';
import { MORE_COLUMN } from '../field-column.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { booleanOf, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { type BatchTable, statementPieces } from './postgres-batch.ts';
import { copyNew } from './postgres-copy.ts';
import { qualified } from './postgres-names.ts';

/** See {@link SqlDialect.storeNew}. */
export async function storeNewInPostgres(
  tx: SqlSession,
  table: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<boolean[]> {
  const isStored: boolean[] = [];
  for (const piece of statementPieces(rows, table.columns.length)) {
    const isCopied = await copyNew(tx, table, piece, at);
    for (let row = 0; row < piece.length; row++) isStored.push(isCopied);
  }
  return isStored;
}

/** See {@link SqlDialect.upsert}: the server compares, and only rows that differ are touched or locked. */
export async function upsertIntoPostgres(
  tx: SqlSession,
  table: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (const piece of statementPieces(rows, table.columns.length)) {
    const byId = await upsertPiece(tx, table, piece, at);
    for (const { id } of piece) outcomes.push(byId.get(id) ?? 'unchanged');
  }
  return outcomes;
}

/** What became of those that were not the same. */
async function upsertPiece(
  tx: SqlSession,
  table: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<ReadonlyMap<string, RowOutcome>> {
  const params = table.columns.map(({ valueOf }) => rows.map((row) => valueOf(row)));
  const changed = await tx.query(upsertStatement(table), [...params, at]);
  const [first] = changed;
  const swallowed = first === undefined ? 0 : changed.length - numberOf(first, '_stored');
  if (swallowed > 0) throw new SwallowedWrites(`${table.schema}.${table.table}`, swallowed);
  return new Map(changed.map((row) => [textOf(row, 'id'), outcomeOf(row)]));
}

function outcomeOf(row: Parameters<typeof booleanOf>[0]): RowOutcome {
  if (booleanOf(row, '_is_new')) return 'inserted';
  return booleanOf(row, '_was_deleted') ? 'restored' : 'updated';
}

/**
 * `unnest` takes a batch of any size with one parameter a column. Rows are compared before they are inserted: an
 * ON CONFLICT … WHERE alone would lock, and so write to, rows that stay as they are (L4). `OFFSET 0` has each looked up by
 * its key: of a table that was just filled the planner knows nothing, and would read all of it for each batch. They are
 * locked in the order of the bytes of their IDs, as by COPY; one that another writer inserted meanwhile is new there, not
 * here (a row that was inserted has no `xmax`).
 */
function upsertStatement({ schema, table: name, columns, more }: BatchTable): string {
  const table = qualified(schema, name);
  const names = columns.map((column) => quoted(column.name));
  const at = `$${columns.length + 1}::timestamptz`;
  const incoming = columns.map((column) =>
    column.name === MORE_COLUMN && more.keepsOthers
      ? mergedMore(more.keys)
      : `b.${quoted(column.name)}`,
  );
  const own = names.slice(1);
  const arrays = columns.map((column, index) => `$${index + 1}::${column.type}[]`);
  return `WITH changed AS MATERIALIZED (
      SELECT ${incoming.map((value, index) => `${value} AS ${names[index] ?? ''}`).join(', ')},
        t.id IS NULL AS _is_new, t._deleted_at IS NOT NULL AS _was_deleted
      FROM unnest(${arrays.join(', ')}) AS b(${names.join(', ')})
        LEFT JOIN LATERAL (SELECT * FROM ${table} AS i WHERE i.id = b.id OFFSET 0) AS t ON true
      WHERE t.id IS NULL OR t._deleted_at IS NOT NULL
        OR (${own.map((name) => `t.${name}`).join(', ')}) IS DISTINCT FROM (${incoming.slice(1).join(', ')})
    ), stored AS (
      INSERT INTO ${table} (${names.join(', ')}, _first_seen_at, _changed_at)
      SELECT ${names.join(', ')}, ${at}, ${at} FROM changed ORDER BY id COLLATE "C"
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
