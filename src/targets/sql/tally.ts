import { signOf } from '../../mirror/accounting.ts';
import type { EntryKind } from '../../mirror/port.ts';
import { type FormState, liveRows, sumOf, type Tally } from '../../mirror/form-state.ts';
import { change, quoted, type Session, type SqlRow, textOf, textOrNull } from './dialect.ts';
import { stateOf } from './schema.ts';

/** A relation: the entries of all forms, with whether each has a live row in this table. */
export const entriesOf = (place: string): string =>
  `(SELECT e.*, CASE WHEN t.id IS NULL THEN 0 ELSE 1 END AS has_row FROM _mirror_entries AS e
    LEFT JOIN ${quoted(place)} AS t ON t.id = e.id AND t._deleted_at IS NULL) AS e`;

/** What the target accounts for, counted from rows and entries. Drops held and undecided entries whose rows a person removed. */
export async function countTally(
  tx: Session,
  form: Pick<FormState, 'formId' | 'place'>,
): Promise<Tally> {
  const table = quoted(form.place);
  let entries = await countEntries(tx, form);
  if (entries.held + entries.undecided > sumOf(Object.values(entries.missing))) {
    await change(
      tx,
      `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind IN ('held', 'undecided')
       AND id NOT IN (SELECT id FROM ${table} WHERE _deleted_at IS NULL)`,
      [form.formId],
    );
    entries = await countEntries(tx, form);
  }
  // Both counts can use an index; a count of everything by status and deletion reads the whole table.
  const found = await tx.query(
    `SELECT status, count(*) AS n FROM ${table} WHERE _deleted_at IS NULL GROUP BY status
     UNION ALL SELECT NULL, count(*) FROM ${table}`,
  );
  const rows = byStatus(found);
  const all = Number(found.find(({ status }) => status === null)?.['n']);
  return { rows, deleted: all - liveRows({ rows }), ...entries };
}

/** The stored state of a form, and its live rows by status, in one statement, so that no commit comes between them. */
export async function stateWithRows(
  session: Session,
  kept: FormState,
): Promise<{ readonly state: FormState; readonly rows: Tally['rows'] }> {
  const { formId, place } = kept;
  const live = `SELECT status, count(*) AS n, max($1) AS form_id FROM ${quoted(place)} WHERE _deleted_at IS NULL GROUP BY status`;
  const found = await session.query(
    `SELECT s.state, r.status, r.n FROM _mirror_state AS s LEFT JOIN (${live}) AS r ON r.form_id = s.form_id WHERE s.form_id = $1`,
    [formId],
  );
  return { state: found[0] === undefined ? kept : stateOf(found[0]), rows: byStatus(found) };
}

/** Without rows that have no status, which are not live. */
const byStatus = (rows: readonly SqlRow[]): Tally['rows'] =>
  Object.fromEntries(
    rows.flatMap(({ status, n }) => (status === null ? [] : [[textOf(status), Number(n)]])),
  );

/** The effect of entries on what the target accounts for. */
export async function countEntries(
  tx: Session,
  { formId, place }: Pick<FormState, 'formId' | 'place'>,
): Promise<Omit<Tally, 'rows' | 'deleted'>> {
  const missing: Record<string, number> = {};
  const unstored: Record<string, number> = {};
  const kinds: Record<string, number> = {};
  for (const row of await tx.query(
    `SELECT kind, status, has_row, count(*) AS n FROM ${entriesOf(place)} WHERE form_id = $1 GROUP BY kind, status, has_row`,
    [formId],
  )) {
    const [kind, n] = [textOf(row['kind']), Number(row['n'])];
    kinds[kind] = (kinds[kind] ?? 0) + n;
    const status = textOrNull(row['status']);
    // Forgotten, and not shown by the source.
    if (status === null) continue;
    const sign = effectOf(row);
    if (sign < 0) missing[status] = (missing[status] ?? 0) + n;
    if (sign > 0) unstored[status] = (unstored[status] ?? 0) + n;
  }
  const { held = 0, undecided = 0, refused = 0, rejected = 0, forgotten = 0 } = kinds;
  return { missing, unstored, held, undecided, refused, rejected, forgotten };
}

/** The effect of one entry on what the target accounts for. */
export const effectOf = ({ kind, status, has_row: hasRow }: SqlRow): -1 | 0 | 1 =>
  signOf({ kind: textOf(kind) as EntryKind, status: textOrNull(status) }, Number(hasRow) === 1);
