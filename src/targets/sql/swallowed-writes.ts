import { plural } from '../../base/format.ts';
import { MirrorError } from '../../base/errors.ts';
import type { SqlDialect } from './dialect.ts';
import { numberOf, type SqlSession, type SqlValue } from './sql-session.ts';

/**
 * The database reported success and wrote less than it was told to: a trigger returned NULL (PostgreSQL), raised IGNORE
 * (SQLite), or a rule did something else. Thrown in the transaction, so that nothing of the batch stays.
 */
export class SwallowedWrites extends Error {
  readonly rows: number;
  /** The table, for people. */
  readonly table: string;

  constructor(table: string, rows: number) {
    super(`${rows} rows of ${table} were not written`);
    this.table = table;
    this.rows = rows;
  }
}

/** The same for people. */
export const describeSwallowed = (error: SwallowedWrites, place: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `${place}: something in the database, such as a trigger or a rule, took ${plural(error.rows, 'row')} out of what was written ` +
      `to the table ${error.table}, while the database reported success. Nothing of this batch was stored. ` +
      'Look at the triggers and rules on the table, and drop what keeps the mirror from writing.',
    { cause: error, retryable: false },
  );

/** Throws {@link SwallowedWrites} where a table still holds rows that a statement before should have left none of. */
export async function requireNone(
  tx: SqlSession,
  dialect: SqlDialect,
  table: string,
  [condition, params]: readonly [condition: string, params: readonly SqlValue[]],
): Promise<void> {
  const relation = dialect.relation(table);
  const [row] = await tx.query(`SELECT count(*) AS n FROM ${relation} WHERE ${condition}`, params);
  const left = row === undefined ? 0 : numberOf(row, 'n');
  if (left > 0) throw new SwallowedWrites(dialect.shownRelation(table), left);
}
