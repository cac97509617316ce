import { type FormState, liveRows, type Tally } from '../../mirror/form-state.ts';
import {
  change,
  numberOf,
  quoted,
  type Session,
  type SqlRow,
  textOf,
  textOrNull,
} from './dialect.ts';

/**
 * The accounts, counted from rows and entries. Notes of each entry whether it has a row, where a person's hand changed that; a held or
 * undecided one without a row is dropped.
 */
export async function countTally(
  tx: Session,
  { formId, place }: Pick<FormState, 'formId' | 'place'>,
): Promise<Tally> {
  const table = quoted(place);
  const hasRow = 'CASE WHEN t.id IS NULL THEN 0 ELSE 1 END';
  const entries = await tx.query(
    `SELECT e.kind, e.status, e.is_stored, ${hasRow} AS has_row, count(*) AS n FROM _mirror_entries AS e
     LEFT JOIN ${table} AS t ON t.id = e.id AND t._deleted_at IS NULL WHERE e.form_id = $1 GROUP BY e.kind, e.status, e.is_stored, ${hasRow}`,
    [formId],
  );
  const areRight = entries.every(
    ({ kind, is_stored: isStored, has_row: isThere }) =>
      kind === 'forgotten' || numberOf(isStored) === numberOf(isThere),
  );
  if (!areRight) {
    await change(
      tx,
      `UPDATE _mirror_entries SET is_stored = 1 - is_stored WHERE form_id = $1 AND kind <> 'forgotten' AND is_stored <> (CASE WHEN EXISTS (SELECT 1 FROM ${table} AS t WHERE t.id = _mirror_entries.id AND t._deleted_at IS NULL) THEN 1 ELSE 0 END)`,
      [formId],
    );
    await change(
      tx,
      `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind IN ('held', 'undecided') AND is_stored = 0`,
      [formId],
    );
  }
  const live = 'CASE WHEN _deleted_at IS NULL THEN status END';
  const found = await tx.query(
    `SELECT ${live} AS status, count(*) AS n FROM ${table} GROUP BY ${live}`,
  );
  const rows = byStatus(found);
  const all = found.reduce((sum, { n }) => sum + numberOf(n), 0);
  const counts = areRight ? effectOf(entries) : await countEntries(tx, formId);
  return { rows, deleted: all - liveRows({ rows }), ...counts };
}

/** The stored state of a form, and its live rows by status, in one statement, so that no commit comes between them. */
export async function stateWithRows(
  session: Session,
  { formId, place }: Pick<FormState, 'formId' | 'place'>,
): Promise<{ readonly state: SqlRow | undefined; readonly rows: Tally['rows'] }> {
  const live = `SELECT status, count(*) AS n, max($1) AS form_id FROM ${quoted(place)} WHERE _deleted_at IS NULL GROUP BY status`;
  const found = await session.query(
    `SELECT s.state, r.status, r.n FROM _mirror_state AS s LEFT JOIN (${live}) AS r ON r.form_id = s.form_id WHERE s.form_id = $1`,
    [formId],
  );
  return { state: found[0], rows: byStatus(found) };
}

/** Without those that have no status: they are not live. */
const byStatus = (rows: readonly SqlRow[]): Tally['rows'] =>
  Object.fromEntries(
    rows.flatMap(({ status, n }) => (status === null ? [] : [[textOf(status), numberOf(n)]])),
  );

/** The effect of entries on the accounts, counted. */
export const countEntries = async (
  tx: Session,
  formId: string,
): Promise<Omit<Tally, 'rows' | 'deleted'>> =>
  effectOf(
    await tx.query(
      'SELECT kind, status, is_stored, count(*) AS n FROM _mirror_entries WHERE form_id = $1 GROUP BY kind, status, is_stored',
      [formId],
    ),
  );

/** The effect of entries on the accounts, from their numbers by kind, status and whether they have a row. */
function effectOf(entries: readonly SqlRow[]): Omit<Tally, 'rows' | 'deleted'> {
  const missing: Record<string, number> = {};
  const unstored: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  for (const row of entries) {
    const [kind, n] = [textOf(row['kind']), numberOf(row['n'])];
    kinds[kind] = (kinds[kind] ?? 0) + n;
    const status = textOrNull(row['status']);
    // Forgotten, and not shown by the source.
    if (status === null) continue;
    const sign = signOf(kind, numberOf(row['is_stored']) === 1);
    if (sign < 0) missing[status] = (missing[status] ?? 0) + n;
    if (sign > 0) unstored[status] = (unstored[status] ?? 0) + n;
  }
  const { held = 0, undecided = 0, refused = 0, rejected = 0, forgotten = 0 } = kinds;
  return { missing, unstored, held, undecided, refused, rejected, forgotten };
}

/** The effect of an entry with a status on the accounts. `isStored`: the submission has a live row. */
export function signOf(kind: string, isStored: boolean): -1 | 0 | 1 {
  if (kind === 'held' || kind === 'undecided') return isStored ? -1 : 0;
  if (kind === 'rejected') return isStored ? 0 : 1;
  return kind === 'forgotten' ? 1 : 0;
}
