import type { RowOutcome } from '../../../mirror/target.ts';
import type { Cell } from '../../../mirror/types.ts';
import type { StorableRow } from '../dialect.ts';
import { type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { encodeMore } from '../more-column.ts';
import { piecesOf, placeholders, quoted, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { encodeSqliteCell, inSqliteJson, type SqliteCell } from './sqlite-cells.ts';
import { SqliteTransaction } from './sqlite-connection.ts';
import { type FlatRows, STORE_OUTCOMES, type StorePlan } from './sqlite-store.ts';

/** Cells stored at a time: so few that V8 makes and drops their lists as cheaply as small ones, and wide rows take little memory. */
const CELLS_A_PIECE = 12_000;

/** See {@link SqlDialect.upsert}: reads the rows, compares them, and writes those that differ. */
export async function upsertIntoSqlite(
  tx: SqlSession,
  form: FormTable,
  fields: readonly FieldColumn[],
  rows: readonly StorableRow[],
  at: string,
): Promise<RowOutcome[]> {
  if (!(tx instanceof SqliteTransaction)) throw new TypeError('no transaction of SQLite');
  const plan = planStore(form, fields, at);
  const encode = encoder(form, fields);
  const outcomes: RowOutcome[] = [];
  const take = (numbers: Uint8Array): void => {
    for (const number of numbers) {
      const outcome = STORE_OUTCOMES[number];
      if (outcome !== undefined && outcome !== 'swallowed') outcomes.push(outcome);
    }
  };
  let stored: Promise<Uint8Array> = Promise.resolve(new Uint8Array());
  for (const piece of piecesOf(rows, Math.max(1, Math.floor(CELLS_A_PIECE / plan.width)))) {
    // While the piece before is stored, where a thread does that.
    const flat = encode(piece);
    take(await stored);
    stored = tx.store(plan, flat);
    // It is waited for above or below, unless the next piece can't be encoded.
    stored.catch(() => {});
  }
  take(await stored);
  const swallowed = rows.length - outcomes.length;
  if (swallowed > 0) throw new SwallowedWrites(form.table, swallowed);
  return outcomes;
}

function planStore(form: FormTable, fields: readonly FieldColumn[], at: string): StorePlan {
  const columns = fields.filter((field) => field.storage === 'column');
  const written = keysOfMore(fields);
  const order = keysOfMore(form.fields);
  const names = [
    'status',
    'created_at',
    ...columns.map((field) => field.column),
    ...(written.length > 0 ? [MORE_COLUMN] : []),
  ].map(quoted);
  const table = quoted(form.table);
  const sets = names.map((name, index) => `${name} = $${index + 3}`).join(', ');
  return {
    select: `SELECT id, _deleted_at, ${names.join(', ')} FROM ${table} WHERE id IN (SELECT value FROM json_each($1))`,
    insert: `INSERT INTO ${table} (id, _changed_at, ${names.join(', ')}, _first_seen_at)
      VALUES ${placeholders(1, names.length + 3)}`,
    update: `UPDATE ${table} SET _changed_at = $2, _deleted_at = NULL, ${sets} WHERE id = $1`,
    width: names.length,
    at,
    more: written.length > 0 && written.length < order.length ? { written, order } : null,
  };
}

const keysOfMore = (fields: readonly FieldColumn[]): string[] =>
  fields.flatMap((field) => (field.storage === 'more' ? [field.column] : []));

/** What makes rows flat. */
function encoder(
  form: FormTable,
  fields: readonly FieldColumn[],
): (rows: readonly StorableRow[]) => FlatRows {
  const order = keysOfMore(form.fields);
  const hasMore = fields.some((field) => field.storage === 'more');
  const columns = fields.flatMap(({ storage, type }, index) =>
    storage === 'column' ? [{ index, type }] : [],
  );
  return (rows) => {
    const values: SqliteCell[] = [];
    for (const row of rows) {
      values.push(row.status, row.createdAt);
      for (const { index, type } of columns) {
        values.push(encodeSqliteCell(row.cells[index] ?? null, type));
      }
      if (hasMore) values.push(encodeMore(moreAnswers(fields, row), order));
    }
    return { ids: rows.map(({ id }) => id), values };
  };
}

function moreAnswers(fields: readonly FieldColumn[], row: StorableRow): Map<string, Cell> {
  const answers = new Map<string, Cell>();
  for (const [index, field] of fields.entries()) {
    if (field.storage !== 'more') continue;
    answers.set(field.column, inSqliteJson(row.cells[index] ?? null));
  }
  return answers;
}
