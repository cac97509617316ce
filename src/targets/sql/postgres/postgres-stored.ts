import { decimalText } from '../../../mirror/numbers.ts';
import { type Cell, ExactNumber } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { MORE_COLUMN } from '../field-column.ts';
import { decodeMore } from '../more-column.ts';
import { quoted, type SqlSession } from '../sql-session.ts';
import type { BatchColumn, BatchTable, MoreFields } from './postgres-batch.ts';
import { timeText } from './postgres-cells.ts';
import { literal, qualified } from './postgres-names.ts';

/** The rows of a batch by how they compare with the table. */
export interface Compared {
  /** Not in the table, which is as it was made, so that COPY stores in it what INSERT would. */
  readonly fresh: readonly StorableRow[];
  /** Perhaps to be written: only the server knows. */
  readonly other: readonly StorableRow[];
}

/**
 * Reads back what the table holds and compares it here: rows that look the same are the same, and need nothing more (L4).
 * To send them and have the server compare takes it twice the work.
 */
export async function compareStored(
  tx: SqlSession,
  table: BatchTable,
  rows: readonly StorableRow[],
): Promise<Compared> {
  const { columns, more } = table;
  const names = columns.map(({ name }) => name);
  const types = columns.map(({ type }) => TYPE_OIDS[type]);
  const ids = rows.map(({ id }) => id);
  const stored = await tx.queryArrays(readStatement(table), [ids, names, types]);
  if (stored[0]?.[0] !== 't') return { fresh: [], other: rows };
  const byId = new Map(stored.map((values) => [values[ID], values]));
  const fresh: StorableRow[] = [];
  const other: StorableRow[] = [];
  for (const row of rows) {
    const values = byId.get(row.id);
    if (values === undefined) fresh.push(row);
    else if (!isSame(columns, more, row, values)) other.push(row);
  }
  return { fresh, other };
}

/** Of what the server counts on, as it numbers them: https://www.postgresql.org/docs/current/catalog-pg-type.html */
const TYPE_OIDS = { text: '25', timestamptz: '1184', numeric: '1700', jsonb: '3802' };

/** Places in the rows of {@link readStatement}. */
const [ID, DELETED, FIRST_OWN] = [1, 2, 3];

/**
 * The stored rows, and before each whether the table is as it was made: of a column that people retyped, or a table that they
 * gave a rule, nothing is known here. One row at least, without an ID where none is stored. What it has read is not changed
 * (ALTER) by anyone before the transaction ends.
 */
function readStatement({ schema, table, columns }: BatchTable): string {
  const relation = qualified(schema, table);
  return `SELECT own.is_plain, t.id, t._deleted_at IS NOT NULL, ${columns.slice(1).map(shownText).join(', ')}
    FROM (SELECT c.relkind = 'r' AND NOT c.relhasrules AND NOT EXISTS (
        SELECT 1 FROM unnest($2::text[], $3::oid[]) AS b(name, type)
        WHERE NOT EXISTS (SELECT 1 FROM pg_attribute AS a
          WHERE a.attrelid = c.oid AND a.attname = b.name AND a.atttypid = b.type)) AS is_plain
      FROM pg_class AS c WHERE c.oid = ${literal(relation)}::regclass) AS own
    LEFT JOIN ${relation} AS t ON t.id = ANY($1::text[])`;
}

const shownText = ({ name, type }: BatchColumn): string =>
  type === 'timestamptz' ? timeText(`t.${quoted(name)}`) : `t.${quoted(name)}`;

function isSame(
  columns: readonly BatchColumn[],
  more: MoreFields,
  row: StorableRow,
  values: readonly unknown[],
): boolean {
  if (values[DELETED] !== 'f') return false;
  for (let index = 1; index < columns.length; index++) {
    const column = columns[index];
    const stored = values[FIRST_OWN + index - 1];
    if (column === undefined || stored === undefined) return false;
    if (column.type === 'timestamptz') {
      if (stored !== (row.createdAt === null ? null : sixDigits(row.createdAt))) return false;
    } else if (column.name === MORE_COLUMN) {
      if (!isSameMore(more, row, stored)) return false;
    } else if (stored !== column.valueOf(row)) return false;
  }
  return true;
}

/** A canonical time as {@link timeText} has it. */
const sixDigits = (time: string): string => `${time.slice(0, -1).padEnd(26, '0')}Z`;

/** As the server compares: numbers by their value, and whatever else is in it. */
function isSameMore(
  { fields, keepsOthers }: MoreFields,
  row: StorableRow,
  stored: unknown,
): boolean {
  const answers = decodeMore(stored);
  let held = 0;
  for (const { key, index } of fields) {
    const cell = row.cells[index] ?? null;
    const isThere = answers.has(key);
    if (isThere !== (cell !== null) || !isSameCell(cell, answers.get(key) ?? null)) return false;
    if (isThere) held++;
  }
  return keepsOthers || (answers.size === held && (held > 0 || stored === null));
}

const isSameCell = (a: Cell, b: Cell): boolean =>
  a === b || (isNumber(a) && isNumber(b) && decimalText(a) === decimalText(b));

/** By hand, people put anything into JSON. */
const isNumber = (cell: Cell): cell is number | ExactNumber =>
  typeof cell === 'number' || cell instanceof ExactNumber;
