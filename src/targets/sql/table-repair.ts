import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import { partsOf } from './answer-parts.ts';
import type { SqlDialect } from './dialect.ts';
import { type FormTable, MORE_COLUMN } from './field-column.ts';
import { inSavepoint, type SqlSession } from './sql-session.ts';
import { doubleRows } from './table-standing.ts';

/** What {@link completeTable} works on. */
export interface TableRepair {
  readonly table: FormTable;
  /** The columns that are there. */
  readonly present: readonly string[];
  readonly at: string;
  /** The target, for messages. */
  readonly place: string;
}

/**
 * Gives a table of ours what it lacks: columns of new fields; columns, key and index that people dropped. What was in a
 * column is filled by a full pass, as far as the source has it; `_first_seen_at` becomes the time of the last change and
 * `_changed_at` that of the repair, which are the earliest times that are still known to be true.
 */
export async function completeTable(
  tx: SqlSession,
  dialect: SqlDialect,
  { table, present, at, place }: TableRepair,
): Promise<void> {
  const there = new Set(present);
  const dropped = SYSTEM_COLUMNS.filter((name) => !there.has(name));
  if (dropped.length > 0) await restoreSystemColumns(tx, dialect, table, dropped, at);
  const parts = partsOf(table.fields);
  const missing = parts.filter(({ storage, name }) => storage === 'column' && !there.has(name));
  const lacksMore = !there.has(MORE_COLUMN) && parts.some(({ storage }) => storage === 'more');
  if (missing.length > 0 || lacksMore)
    await dialect.addColumns(tx, table.table, missing, lacksMore);
  await dialect.ensureDateIndex(tx, table.table);
  if (await dialect.hasKey(tx, table.table)) return;
  try {
    await inSavepoint(tx, () => dialect.addKey(tx, table.table));
  } catch (error) {
    if (dialect.rowDefect(error) === undefined) throw error;
    throw doubleRows(dialect, table.table, place);
  }
}

async function restoreSystemColumns(
  tx: SqlSession,
  dialect: SqlDialect,
  { table }: FormTable,
  dropped: readonly string[],
  at: string,
): Promise<void> {
  const { id, time } = dialect.types;
  const now = dialect.timeValue(at);
  const types: Readonly<Record<string, string>> = {
    status: `${id} NOT NULL DEFAULT ''`,
    created_at: time,
    _first_seen_at: `${time} NOT NULL DEFAULT '${now}'`,
    _changed_at: `${time} NOT NULL DEFAULT '${now}'`,
    _deleted_at: time,
  };
  const name = dialect.relation(table);
  for (const column of dropped) {
    await tx.exec(`ALTER TABLE ${name} ADD COLUMN ${column} ${types[column]}`);
  }
  if (dropped.includes('_first_seen_at') && !dropped.includes('_changed_at')) {
    await tx.query(`UPDATE ${name} SET _first_seen_at = _changed_at`);
  }
  if (dropped.includes('status') || dropped.includes('_deleted_at')) {
    await dialect.addStatusIndex(tx, table);
  }
}
