import type { StorableRow, StoreOutcome } from '../dialect.ts';
import { inSavepoint, piecesOf, type SqlSession } from '../sql-session.ts';
import { SwallowedWrites } from '../swallowed-writes.ts';
import { type BatchTable, type MysqlValue, valueLiteral } from './mysql-batch.ts';
import { mysqlTime } from './mysql-cells.ts';
import { mysqlRowDefect } from './mysql-errors.ts';
import { literal, textLiteral } from './mysql-literal.ts';
import { sessionOf } from './mysql-locks.ts';
import { type MysqlSession, requireRoom, roomOf } from './mysql-session.ts';

/** Rows that are looked up by one statement. */
const ROWS_A_STATEMENT = 1_000;

/** How often rows are looked up again that another writer has inserted meanwhile. */
const MOST_TRIES = 4;

/** See {@link SqlDialect.storeNew}: without a look at what there is. All of the rows, or none. */
export async function storeNewInMysql(
  tx: SqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<boolean[]> {
  const session = sessionOf(tx);
  const fresh = rows.map((row): WrittenRow => ({ row, values: batch.valuesOf(row) }));
  const areStored = await inSavepoint(tx, async () => {
    if (!(await insert(session, batch, fresh, at))) throw new NotAllNew();
    return true;
  }).catch((error: unknown) => {
    if (error instanceof NotAllNew || mysqlRowDefect(error) !== undefined) return false;
    throw error;
  });
  return rows.map(() => areStored);
}

/** See {@link SqlDialect.upsert}: reads the rows, compares them, and writes those that differ. */
export async function upsertIntoMysql(
  tx: SqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<StoreOutcome[]> {
  const outcomes: StoreOutcome[] = [];
  for (const piece of piecesOf(rows, ROWS_A_STATEMENT)) {
    outcomes.push(...(await upsertPiece(tx, batch, piece, at)));
  }
  return outcomes;
}

/** A row with the values that are written. */
interface WrittenRow {
  readonly row: StorableRow;
  readonly values: readonly MysqlValue[];
}

/** Thrown where rows that were not there were there after all. */
class NotAllNew extends Error {}

async function upsertPiece(
  tx: SqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  at: string,
): Promise<StoreOutcome[]> {
  const session = sessionOf(tx);
  for (let tries = 1; ; tries++) {
    try {
      return await inSavepoint(
        tx,
        () => storeOnce(session, batch, rows, at, tries),
        'forms_mirror_rows',
      );
    } catch (error) {
      if (!(error instanceof NotAllNew)) throw error;
    }
  }
}

/** `tries`: after the first, what others inserted meanwhile is seen; with the last, what refuses a row says so itself. */
async function storeOnce(
  session: MysqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  at: string,
  tries: number,
): Promise<StoreOutcome[]> {
  const stored = await readStored(session, batch, rows, tries > 1);
  const outcomes: StoreOutcome[] = [];
  const fresh: WrittenRow[] = [];
  const updates: { readonly id: string; readonly sql: string }[] = [];
  for (const row of rows) {
    const before = stored.get(row.id);
    const values = batch.valuesOf(row);
    if (before === undefined) {
      fresh.push({ row, values });
      outcomes.push('inserted');
      continue;
    }
    const merged = batch.mergedWith(values, before.values);
    const changed = batch.changedColumns(merged, before.values);
    if (changed.length === 0 && !before.isDeleted) {
      outcomes.push('unchanged');
      continue;
    }
    updates.push({ id: row.id, sql: updateStatement(batch, row.id, merged, changed, at) });
    // The status is the first of the columns.
    const kind = changed.includes(0) ? 'updated' : 'edited';
    outcomes.push(before.isDeleted ? 'restored' : kind);
  }
  await update(session, batch, updates);
  // The last time as it is, so that the server names the key of somebody else that a row violates.
  const isLast = tries >= MOST_TRIES;
  const areNew = await insert(session, batch, fresh, at, isLast ? 'refused' : 'skipped');
  if (!areNew) throw isLast ? new SwallowedWrites(batch.table, 1) : new NotAllNew();
  return outcomes;
}

interface StoredRow {
  readonly isDeleted: boolean;
  readonly values: readonly (string | null)[];
}

/** Those of the rows that there are. `latest`: as whoever wrote them last has committed them, and locked. */
async function readStored(
  session: MysqlSession,
  batch: BatchTable,
  rows: readonly StorableRow[],
  latest: boolean,
): Promise<Map<string, StoredRow>> {
  const ids = rows.map(({ id }) => id);
  const found = await session.queryArrays(
    `SELECT id, _deleted_at, ${batch.columns.join(', ')} FROM ${batch.table}
     WHERE id IN (${literal(ids)})${latest ? ' FOR UPDATE' : ''}`,
  );
  return new Map(
    (found as (string | null)[][]).map(([id, deletedAt, ...values]) => [
      id ?? '',
      { isDeleted: deletedAt !== null, values },
    ]),
  );
}

/**
 * Inserts rows in the order of their IDs, so that no two writers wait for each other; whether all were new. `skipped`: what is
 * there stays as it is, and is locked as if it had been written, where an INSERT that is refused leaves a lock that others
 * share, and two of those wait for each other.
 */
async function insert(
  session: MysqlSession,
  batch: BatchTable,
  rows: readonly WrittenRow[],
  at: string,
  there: 'skipped' | 'refused' = 'skipped',
): Promise<boolean> {
  const time = textLiteral(mysqlTime(at));
  const head = `INSERT INTO ${batch.table} (id, _first_seen_at, _changed_at, ${batch.columns.join(', ')}) VALUES\n`;
  const tail = there === 'skipped' ? '\nON DUPLICATE KEY UPDATE id = id' : '';
  const room = roomOf(session.server) - head.length - tail.length;
  const statements: { readonly sql: string; readonly rows: number }[] = [];
  let [tuples, bytes]: [string[], number] = [[], 0];
  const close = (): void => {
    if (tuples.length > 0)
      statements.push({ sql: head + tuples.join(',\n') + tail, rows: tuples.length });
    [tuples, bytes] = [[], 0];
  };
  for (const { row, values } of inOrderOfIds(rows, ({ row: { id } }) => id)) {
    const tuple = `(${textLiteral(row.id)}, ${time}, ${time}, ${values.map(valueLiteral).join(', ')})`;
    const size = Buffer.byteLength(tuple) + 2;
    requireRoom(session, size + head.length + tail.length);
    if (bytes + size > room) close();
    tuples.push(tuple);
    bytes += size;
  }
  close();
  const answers = await session.write(statements.map(({ sql }) => sql));
  // A row that was there counts as none; where a trigger or a versioned table makes a change of it, as two or more.
  return answers.every(
    ({ affected, changedThere }, nth) => changedThere === 0 && affected === statements[nth]?.rows,
  );
}

function updateStatement(
  batch: BatchTable,
  id: string,
  values: readonly MysqlValue[],
  changed: readonly number[],
  at: string,
): string {
  const sets = changed.map(
    (nth) => `${batch.columns[nth] ?? ''} = ${valueLiteral(values[nth] ?? null)}`,
  );
  return `UPDATE ${batch.table} SET ${[`_changed_at = ${textLiteral(mysqlTime(at))}`, '_deleted_at = NULL', ...sets].join(', ')} WHERE id = ${textLiteral(id)}`;
}

/** Throws {@link SwallowedWrites} where a trigger kept a row as it was. */
async function update(
  session: MysqlSession,
  batch: BatchTable,
  updates: readonly { readonly id: string; readonly sql: string }[],
): Promise<void> {
  const statements = inOrderOfIds(updates, ({ id }) => id).map(({ sql }) => sql);
  for (const sql of statements) requireRoom(session, Buffer.byteLength(sql));
  const answers = await session.write(statements);
  const swallowed = answers.filter(({ affected }) => affected === 0).length;
  if (swallowed > 0) throw new SwallowedWrites(batch.table.replaceAll('`', ''), swallowed);
}

/** In the order of the bytes of the IDs, as the collation has it. */
function inOrderOfIds<T>(items: readonly T[], idOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, bytes: Buffer.from(idOf(item)) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    .map(({ item }) => item);
}
