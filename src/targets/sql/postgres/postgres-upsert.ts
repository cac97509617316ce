import type { StorableRow, StoreOutcome } from '../dialect.ts';
import { MORE_COLUMN } from '../field-column.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { booleanOf, numberOf, quoted, type SqlSession, textOf } from '../sql-session.ts';
import { type BatchColumn, type BatchTable, statementPieces } from './postgres-batch.ts';
import { batchTexts, cellColumns, jsonColumns } from './postgres-batch-texts.ts';
import { copyNew } from './postgres-copy.ts';
import { qualified } from './postgres-names.ts';

/** See {@link SqlDialect.storeNew}. */
export async function storeNewInPostgres(
  tx: SqlSession,
  table: BatchTable,
  rows: readonly StorableRow[],
  how: { readonly at: string; readonly looksNew: boolean },
): Promise<boolean[]> {
  const isStored: boolean[] = [];
  for (const piece of statementPieces(rows, table.columns.length)) {
    const isCopied = await copyNew(tx, table, piece, how);
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
): Promise<StoreOutcome[]> {
  const outcomes: StoreOutcome[] = [];
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
): Promise<ReadonlyMap<string, StoreOutcome>> {
  const { ids, dates, cells, json, marks } = batchTexts(table.columns, rows);
  const params = [ids, dates, cells, marks.row, marks.cell, marks.none, at, ...json];
  const changed = await tx.query(upsertStatement(table), params);
  const [first] = changed;
  const swallowed = first === undefined ? 0 : changed.length - numberOf(first, '_stored');
  if (swallowed > 0) throw new SwallowedWrites(`${table.schema}.${table.table}`, swallowed);
  return new Map(changed.map((row) => [textOf(row, 'id'), outcomeOf(row)]));
}

function outcomeOf(row: Parameters<typeof booleanOf>[0]): StoreOutcome {
  if (booleanOf(row, '_is_new')) return 'inserted';
  if (booleanOf(row, '_was_deleted')) return 'restored';
  return booleanOf(row, '_same_status') ? 'edited' : 'updated';
}

/**
 * Rows are compared before they are inserted: an ON CONFLICT … WHERE alone would lock, and so write to, rows that stay as
 * they are (L4). First as texts, which is cheap and settles nearly all; those of which the texts differ, as a number may
 * that people wrote otherwise, value by value. `OFFSET 0` has each looked up by its key: of a table that was just filled
 * the planner knows nothing, and would read all of it for each batch. They are locked in the order of the bytes of their
 * IDs, as by COPY; one that another writer inserted meanwhile is new there, not here (a row that was inserted has no
 * `xmax`).
 */
function upsertStatement(batch: BatchTable): string {
  const table = qualified(batch.schema, batch.table);
  const names = batch.columns.map((column) => quoted(column.name));
  const own = names.slice(1);
  const inCells = cellColumns(batch.columns);
  const json = jsonColumns(batch.columns).map((column, index) => ({
    column,
    held: `t.${quoted(column.name)}`,
    list: `string_to_array($${index + 8}::text, $4::text, '')::jsonb[]`,
    sent:
      column.name === MORE_COLUMN ? sentMore(batch.more, `r._json_${index}`) : `r._json_${index}`,
  }));
  const valueOf = (column: BatchColumn): string => {
    if (column.type === 'jsonb') {
      return `d._sent_${json.findIndex((one) => one.column === column)}`;
    }
    const place = inCells.indexOf(column) + 1;
    if (place === 0) return `d.${quoted(column.name)}`;
    // Nothing at all is how an array of one empty text is written.
    if (column.name === 'status') return `coalesce(s.v[${place}], '')`;
    return `s.v[${place}]${column.type === 'text' ? '' : `::${column.type}`}`;
  };
  const values = batch.columns.map(valueOf);
  const held = own.map((_, index) => `d._held_${index}`);
  const status = batch.columns.findIndex(({ name }) => name === 'status');
  const lists = [
    'string_to_array($1::text, $4::text)',
    "string_to_array($2::text, $4::text, '')::timestamptz[]",
    'string_to_array($3::text, $4::text)',
    ...json.map(({ list }) => list),
  ];
  const listNames = ['id', 'created_at', 'cells', ...json.map((_, index) => `_json_${index}`)];
  const cells = inCells.map(({ name }) => `t.${quoted(name)}::text`);
  return `WITH changed AS MATERIALIZED (
      SELECT ${values.map((value, index) => `${value} AS ${names[index] ?? ''}`).join(', ')},
        d._held IS NULL AS _is_new, d._deleted_at IS NOT NULL AS _was_deleted,
        ${held[status - 1]} IS NOT DISTINCT FROM ${values[status]} AS _same_status
      FROM (
        SELECT coalesce(r.id, '') AS id, r.created_at, r.cells, t.id AS _held, t._deleted_at,
          ${[...own.map((name, index) => `t.${name} AS _held_${index}`), ...json.map(({ sent }, index) => `${sent} AS _sent_${index}`)].join(', ')}
        FROM unnest(${lists.join(', ')}) AS r(${listNames.join(', ')})
          LEFT JOIN LATERAL (SELECT * FROM ${table} AS i WHERE i.id = coalesce(r.id, '') OFFSET 0) AS t ON true
        WHERE t.id IS NULL OR t._deleted_at IS NOT NULL OR t.created_at IS DISTINCT FROM r.created_at
          OR array_to_string(ARRAY[${cells.join(', ')}], $5::text, $6::text) IS DISTINCT FROM r.cells
          ${json.map((one) => `OR ${one.held} IS DISTINCT FROM ${one.sent}`).join(' ')}
        OFFSET 0
      ) AS d, LATERAL (SELECT string_to_array(d.cells, $5::text, $6::text) AS v OFFSET 0) AS s
      WHERE d._held IS NULL OR d._deleted_at IS NOT NULL OR (${held.join(', ')}) IS DISTINCT FROM (${values.slice(1).join(', ')})
    ), stored AS (
      INSERT INTO ${table} (${names.join(', ')}, _first_seen_at, _changed_at)
      SELECT ${names.join(', ')}, $7::timestamptz, $7::timestamptz FROM changed ORDER BY id COLLATE "C"
      ON CONFLICT (id) DO UPDATE SET ${own.map((name) => `${name} = excluded.${name}`).join(', ')},
        _changed_at = excluded._changed_at, _deleted_at = NULL
      RETURNING id, xmax = 0 AS _is_new
    )
    SELECT changed.id, coalesce(stored._is_new, changed._is_new) AS _is_new, _was_deleted, _same_status,
      (SELECT count(*) FROM stored) AS _stored
    FROM changed LEFT JOIN stored ON stored.id = changed.id`;
}

/** The overflow column as it is to be: what is stored with the written keys replaced. Names are plain and need no escape. */
function sentMore({ keepsOthers, keys }: BatchTable['more'], sent: string): string {
  if (!keepsOthers) return sent;
  const replaced = `ARRAY[${keys.map((key) => `'${key}'`).join(', ')}]::text[]`;
  const kept = `coalesce(t.${MORE_COLUMN}, '{}') - ${replaced}`;
  return `nullif((${kept}) || coalesce(${sent}, '{}'), '{}')`;
}
