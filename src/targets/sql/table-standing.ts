import { MirrorError } from '../../base/errors.ts';
import type { SqlDialect } from './dialect.ts';

/**
 * What stands under the name of a form's table. `ours`: our table, whatever columns it lacks. `keyless`: ours, and people
 * dropped the column that says which row is which. `gone`: nothing, or a table of someone else.
 */
export type TableStanding = 'ours' | 'keyless' | 'gone';

/** Columns that no table has by chance. */
const OWN_COLUMNS = ['_first_seen_at', '_changed_at', '_deleted_at'];

/** Judges a table by its columns; undefined: there is none. */
export function standingOf(present: readonly string[] | undefined): TableStanding {
  const own = OWN_COLUMNS.filter((name) => present?.includes(name)).length;
  if (present === undefined || own === 0) return 'gone';
  if (present.includes('id')) return 'ours';
  return own > 1 ? 'keyless' : 'gone';
}

type Naming = Pick<SqlDialect, 'shownRelation'>;

/** The error for a table that is {@link TableStanding | keyless}. */
export function keylessTable(dialect: Naming, table: string, place: string): MirrorError {
  return unclearRows(dialect, table, place, 'has lost its column id');
}

/** The error for a table whose rows share an ID, so that its key can't be made again. */
export function doubleRows(dialect: SqlDialect, table: string, place: string): MirrorError {
  return unclearRows(dialect, table, place, 'has lost its primary key, and rows in it share an ID');
}

function unclearRows(dialect: Naming, table: string, place: string, what: string): MirrorError {
  const name = dialect.shownRelation(table);
  return new MirrorError(
    'TARGET_FAILED',
    `${place}: the table ${name} ${what}: which row is which submission can't be told, and nothing was written. ` +
      'Undo that, or drop the table or give it another name: the next pass creates it again and reads everything.',
    { retryable: false },
  );
}
