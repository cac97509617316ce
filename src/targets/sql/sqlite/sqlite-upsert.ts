import type { RowOutcome } from '../../../mirror/target.ts';
import type { Cell } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { decodeMore, encodeMore } from '../more-column.ts';
import { piecesOf, placeholders, quoted, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { encodeSqliteCell, inSqliteJson, type SqliteCell } from './sqlite-cells.ts';

/** Cells compared at a time; bounds the memory for wide rows. */
const CELLS_A_PIECE = 100_000;

/** What a piece of a batch is written with. */
interface UpsertPlan {
  readonly table: string;
  /** Fields with a column of their own, and whether others are in the overflow column. */
  readonly columns: readonly FieldColumn[];
  readonly fields: readonly FieldColumn[];
  readonly hasMore: boolean;
  /** The keys of the overflow column, in order. */
  readonly moreColumns: readonly string[];
  readonly select: string;
  readonly insert: string;
  readonly update: string;
}

/** See {@link SqlDialect.upsert}: reads the rows, compares them here, and writes those that differ. */
export async function upsertIntoSqlite(
  tx: SqlSession,
  form: FormTable,
  fields: readonly FieldColumn[],
  rows: readonly StorableRow[],
  at: string,
): Promise<RowOutcome[]> {
  const plan = planUpsert(form, fields);
  const outcomes: RowOutcome[] = [];
  const size = Math.max(1, Math.floor(CELLS_A_PIECE / (fields.length + 4)));
  for (const piece of piecesOf(rows, size)) {
    const stored = await readStored(tx, plan, piece);
    for (const row of piece) {
      const outcome = await store(tx, plan, row, stored.get(row.id), at);
      if (outcome !== undefined) outcomes.push(outcome);
    }
  }
  const swallowed = rows.length - outcomes.length;
  if (swallowed > 0) throw new SwallowedWrites(form.table, swallowed);
  return outcomes;
}

function planUpsert(form: FormTable, fields: readonly FieldColumn[]): UpsertPlan {
  const columns = fields.filter((field) => field.storage === 'column');
  const hasMore = columns.length < fields.length;
  const names = [
    'status',
    'created_at',
    ...columns.map((field) => field.column),
    ...(hasMore ? [MORE_COLUMN] : []),
  ].map(quoted);
  const table = quoted(form.table);
  const sets = names.map((name, index) => `${name} = $${index + 3}`).join(', ');
  return {
    table,
    columns,
    fields,
    hasMore,
    moreColumns: form.fields.flatMap((field) => (field.storage === 'more' ? [field.column] : [])),
    select: `SELECT id, _deleted_at, ${names.join(', ')} FROM ${table} WHERE id IN (SELECT value FROM json_each($1))`,
    insert: `INSERT INTO ${table} (id, _changed_at, ${names.join(', ')}, _first_seen_at)
      VALUES ${placeholders(1, names.length + 3)}`,
    update: `UPDATE ${table} SET _changed_at = $2, _deleted_at = NULL, ${sets} WHERE id = $1`,
  };
}

/** A stored row: when it was deleted, and what its columns hold. */
interface StoredValues {
  readonly deletedAt: unknown;
  readonly values: readonly unknown[];
}

async function readStored(
  tx: SqlSession,
  plan: UpsertPlan,
  rows: readonly StorableRow[],
): Promise<Map<string, StoredValues>> {
  const stored = await tx.queryArrays(plan.select, [JSON.stringify(rows.map((row) => row.id))]);
  return new Map(stored.map(([id, deletedAt, ...values]) => [String(id), { deletedAt, values }]));
}

/** Undefined where a trigger took the row away and reported success. */
async function store(
  tx: SqlSession,
  plan: UpsertPlan,
  row: StorableRow,
  stored: StoredValues | undefined,
  at: string,
): Promise<RowOutcome | undefined> {
  const values = encodeRow(plan, row, stored);
  if (stored === undefined) {
    await tx.query(plan.insert, [row.id, at, ...values, at]);
    return (await isWritten(tx)) ? 'inserted' : undefined;
  }
  const isSame = values.every((value, index) => value === stored.values[index]);
  if (isSame && stored.deletedAt === null) return 'unchanged';
  await tx.query(plan.update, [row.id, at, ...values]);
  if (!(await isWritten(tx))) return undefined;
  return stored.deletedAt === null ? 'updated' : 'restored';
}

/** What triggers changed does not count. RETURNING would tell the same, at several times the cost. */
const isWritten = async (tx: SqlSession): Promise<boolean> => {
  const [[changes] = []] = await tx.queryArrays('SELECT changes()');
  return changes === 1n;
};

function encodeRow(
  plan: UpsertPlan,
  row: StorableRow,
  stored: StoredValues | undefined,
): SqliteCell[] {
  const values: SqliteCell[] = [row.status, row.createdAt];
  plan.fields.forEach((field, index) => {
    if (field.storage === 'column') {
      values.push(encodeSqliteCell(row.cells[index] ?? null, field.type));
    }
  });
  if (plan.hasMore) values.push(encodeMoreColumn(plan, row, stored?.values.at(-1)));
  return values;
}

/** Answers of fields that are not written now stay as they are. */
function encodeMoreColumn(plan: UpsertPlan, row: StorableRow, stored: unknown): string | null {
  const isPartial = plan.fields.length - plan.columns.length < plan.moreColumns.length;
  const answers = new Map<string, Cell>(isPartial ? decodeMore(stored) : []);
  plan.fields.forEach((field, index) => {
    if (field.storage === 'more') answers.set(field.column, inSqliteJson(row.cells[index] ?? null));
  });
  return encodeMore(answers, plan.moreColumns);
}
