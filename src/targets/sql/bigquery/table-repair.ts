import { MirrorError } from '../../../base/errors.ts';
import type { ColumnShape } from './bigquery-tables.ts';
import type { FormHold } from './form-hold.ts';
import { type Statement, timeParameter } from './sql-text.ts';
import type { Store } from './store.ts';

/* What people did to the columns of a form's table. */

/** Most columns in a sentence. */
const MOST_NAMES = 3;

/**
 * Throws TARGET_FAILED where columns have other types than the mirror gives them: what it stores would be refused, or stored otherwise.
 * `present`: the columns that are there, by their names in lower case.
 */
export function assertTypes(
  store: Pick<Store, 'place' | 'shownRelation'>,
  table: string,
  wanted: readonly ColumnShape[],
  present: ReadonlyMap<string, ColumnShape>,
): void {
  const changed = wanted.flatMap(({ name, type }) => {
    const now = present.get(name.toLowerCase())?.type ?? type;
    return now === type ? [] : [`${name} is ${now} and has to be ${type}`];
  });
  if (changed.length === 0) return;
  const more = changed.length > MOST_NAMES ? `, and ${changed.length - MOST_NAMES} more` : '';
  throw new MirrorError(
    'TARGET_FAILED',
    `${store.place}: the type of a mirrored column in ${store.shownRelation(table)} was changed (${changed.slice(0, MOST_NAMES).join('; ')}${more}), and nothing is stored there. ` +
      'Change it back, or give the column another name: the next pass makes it again and reads everything.',
    { retryable: false },
  );
}

/**
 * Fills `_first_seen_at` and `_changed_at` where people dropped either and it was made again: with the time of the last change, else with
 * that of the repair, which are the earliest that are still known to be true.
 */
export async function restoreTimes(hold: FormHold): Promise<void> {
  const { state, store } = hold;
  const isLost = state.losses.some(
    (loss) => loss.what === 'column' && TIMES.some((name) => name === loss.name),
  );
  if (!isLost || state.table === null) return;
  const filled: Statement = {
    sql: `UPDATE ${store.relation(state.table)} AS t
     SET _first_seen_at = COALESCE(t._first_seen_at, t._changed_at, @repaired_at), _changed_at = COALESCE(t._changed_at, @repaired_at)
     WHERE t._first_seen_at IS NULL OR t._changed_at IS NULL`,
    parameters: { repaired_at: timeParameter(hold.now()) },
    mutates: state.table,
  };
  await hold.commit(state, [filled]);
}

const TIMES = ['_first_seen_at', '_changed_at'];
