import type { Cell } from '../../../mirror/types.ts';
import { partCell, partsOf } from '../answer-parts.ts';
import type { StorableRow, StoreOutcome } from '../dialect.ts';
import { type AnswerPart, type FieldColumn, type FormTable, MORE_COLUMN } from '../field-column.ts';
import { encodeMore } from '../more-column.ts';
import { piecesOf, placeholders, quoted, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { encodeSqliteCell, inSqliteJson, SQLITE_LIMITS, type SqliteCell } from './sqlite-cells.ts';
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
): Promise<StoreOutcome[]> {
  if (!(tx instanceof SqliteTransaction)) throw new TypeError('no transaction of SQLite');
  const plan = planStore(form, fields, at);
  const encode = encoder(form, fields, plan.width);
  const outcomes: StoreOutcome[] = [];
  const take = (numbers: Uint8Array): void => {
    for (const number of numbers) {
      const outcome = STORE_OUTCOMES[number];
      if (outcome !== undefined && outcome !== 'swallowed') outcomes.push(outcome);
    }
  };
  let stored: Promise<Uint8Array> = Promise.resolve(new Uint8Array());
  for (const piece of piecesOf(rows, Math.max(1, Math.floor(CELLS_A_PIECE / plan.width)))) {
    // While the piece before is stored, where a thread does that; it need not wait for this one either.
    const next = tx.store(plan, encode(piece));
    // It is waited for above or below, unless the one before fails, or the next can't be encoded.
    next.catch(() => {});
    take(await stored);
    stored = next;
  }
  take(await stored);
  const swallowed = rows.length - outcomes.length;
  if (swallowed > 0) throw new SwallowedWrites(form.table, swallowed);
  return outcomes;
}

function planStore(form: FormTable, fields: readonly FieldColumn[], at: string): StorePlan {
  const parts = partsOf(fields);
  const columns = parts.filter(({ storage }) => storage === 'column');
  const written = keysOfMore(parts);
  const order = keysOfMore(partsOf(form.fields));
  const names = [
    'status',
    'created_at',
    ...columns.map(({ name }) => name),
    ...(written.length > 0 ? [MORE_COLUMN] : []),
  ].map(quoted);
  const table = quoted(form.table);
  const sets = names.map((name, index) => `${name} = $${index + 2}`).join(', ');
  return {
    select: `SELECT id, _deleted_at, ${names.join(', ')} FROM ${table} WHERE id IN (SELECT value FROM json_each($1))`,
    insert: `INSERT INTO ${table} (id, _changed_at, ${names.join(', ')}, _first_seen_at)
      VALUES ${placeholders(1, names.length + 3)}`,
    update: `UPDATE ${table} SET _changed_at = $1, _deleted_at = NULL, ${sets} WHERE id = $${names.length + 2}`,
    width: names.length,
    at,
    more: written.length > 0 && written.length < order.length ? { written, order } : null,
  };
}

const keysOfMore = (parts: readonly AnswerPart[]): string[] =>
  parts.flatMap(({ storage, name }) => (storage === 'more' ? [name] : []));

/** What makes rows flat, of so many values each. */
function encoder(
  form: FormTable,
  fields: readonly FieldColumn[],
  width: number,
): (rows: readonly StorableRow[]) => FlatRows {
  const order = keysOfMore(partsOf(form.fields));
  const places = new Map(fields.map((field, index) => [field, index]));
  const parts = partsOf(fields).map((part) => ({ part, index: places.get(part.field) ?? -1 }));
  const columns = parts.filter(({ part }) => part.storage === 'column');
  const inMore = parts.filter(({ part }) => part.storage === 'more');
  const empty: SqliteCell[] = [];
  return (rows) => {
    // With its length from the beginning: one that grows is copied several times. Of one with holes the thread would get each
    // value with its place.
    while (empty.length < rows.length * width) empty.push(null);
    const values = empty.slice(0, rows.length * width);
    let at = 0;
    for (const row of rows) {
      values[at++] = row.status;
      values[at++] = row.createdAt;
      for (const { part, index } of columns) {
        const cell = partCell(part, row.cells[index] ?? null, SQLITE_LIMITS);
        values[at++] = encodeSqliteCell(cell, part.type);
      }
      if (inMore.length > 0) values[at++] = encodeMore(moreAnswers(inMore, row), order);
    }
    return { ids: rows.map(({ id }) => id), values };
  };
}

function moreAnswers(
  inMore: readonly { readonly part: AnswerPart; readonly index: number }[],
  row: StorableRow,
): Map<string, Cell> {
  const answers = new Map<string, Cell>();
  for (const { part, index } of inMore) {
    const cell = partCell(part, row.cells[index] ?? null, SQLITE_LIMITS);
    answers.set(part.name, inSqliteJson(cell));
  }
  return answers;
}
