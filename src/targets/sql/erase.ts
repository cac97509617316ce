import { cellText, looksHashed, toCell } from '../../mirror/cells.ts';
import { parseJson } from '../../mirror/json.ts';
import type { Cell, Json } from '../../mirror/types.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Erasure } from '../../mirror/port.ts';
import {
  type Dialect,
  insert,
  pagesOf,
  quoted,
  type Session,
  type SqlField,
  textOf,
  timeAt,
} from './dialect.ts';
import { decodeRow, encodeMore, MORE, ownColumns } from './fields.ts';
import { countTally } from './tally.ts';

/** The target of an erasure. */
export interface Erasing {
  readonly state: FormState;
  readonly fields: readonly SqlField[];
  readonly columns: ReadonlySet<string>;
  readonly digestOf: (id: string) => string;
  /** ISO. */
  readonly at: string;
}

export interface Erased {
  readonly state: FormState;
  readonly rows: number;
}

/** Erases within a transaction; bytes that are left in files are for `scrub`. */
export async function eraseFrom(
  tx: Session,
  dialect: Dialect,
  what: Erasure,
  from: Erasing,
): Promise<Erased> {
  const rows =
    what.kind === 'columns' || what.kind === 'rehash'
      ? await rewrite(tx, what, from)
      : await eraseRows(tx, dialect, what, from);
  const tally = await countTally(tx, from.state);
  return { rows, state: { ...from.state, tally } };
}

async function eraseRows(
  tx: Session,
  dialect: Dialect,
  what: Exclude<Erasure, { kind: 'columns' | 'rehash' }>,
  from: Erasing,
): Promise<number> {
  switch (what.kind) {
    case 'forget':
      return forget(tx, dialect, what.ids, from);
    case 'remember': {
      const digests = what.ids.map((id) => from.digestOf(id));
      return tx.run(
        `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' AND ${dialect.among('id', '$2')}`,
        [from.state.formId, digests],
      );
    }
    case 'purge':
      return purge(tx, dialect, what, from);
  }
}

async function forget(
  tx: Session,
  dialect: Dialect,
  ids: readonly string[],
  { state, digestOf, at }: Erasing,
): Promise<number> {
  const { formId, place } = state;
  const table = quoted(place);
  let erased = 0;
  for (const id of ids) {
    const digest = digestOf(id);
    const [row] = await tx.query(
      `SELECT status, created_at FROM ${table} WHERE id = $1 AND _deleted_at IS NULL`,
      [id],
    );
    const [rejected] = await tx.query(
      `SELECT status, created_at FROM _mirror_entries WHERE form_id = $1 AND kind = 'rejected' AND id = $2`,
      [formId, id],
    );
    const known = row ?? rejected;
    // An unknown one is remembered too; the source's list later shows its status.
    const time = dialect.timeParam(at);
    const entry = {
      form_id: formId,
      kind: 'forgotten',
      id: digest,
      status: known === undefined ? null : textOf(known['status']),
      created_at:
        known === undefined ? null : dialect.timeParam(dialect.timeOf(known['created_at'])),
      reason: '',
      is_stored: 0,
      first_seen_at: time,
      last_seen_at: time,
    };
    await insert(tx, '_mirror_entries', entry, dialect.onConflict(['form_id', 'kind', 'id']));
    await tx.run(
      `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind <> 'forgotten' AND id = $2`,
      [formId, id],
    );
    await tx.run('DELETE FROM _mirror_versions WHERE form_id = $1 AND submission_id = $2', [
      formId,
      id,
    ]);
    erased += await tx.run(`DELETE FROM ${table} WHERE id = $1`, [id]);
  }
  return erased;
}

async function purge(
  tx: Session,
  dialect: Dialect,
  { deletedBeforeMs, versionsBeforeMs }: Extract<Erasure, { kind: 'purge' }>,
  { state: { formId, place } }: Erasing,
): Promise<number> {
  let erased = 0;
  if (deletedBeforeMs !== null) {
    const before = timeAt(deletedBeforeMs * 1_000, dialect);
    await tx.run(
      `DELETE FROM _mirror_versions WHERE form_id = $1 AND submission_id IN (SELECT id FROM ${quoted(place)} WHERE _deleted_at < $2)`,
      [formId, before],
    );
    erased += await tx.run(`DELETE FROM ${quoted(place)} WHERE _deleted_at < $1`, [before]);
  }
  if (versionsBeforeMs !== null)
    erased += await tx.run('DELETE FROM _mirror_versions WHERE form_id = $1 AND until < $2', [
      formId,
      timeAt(versionsBeforeMs * 1_000, dialect),
    ]);
  return erased;
}

/** How many rows are rewritten at once. */
const ROWS_AT_ONCE = 2_000;

interface Rewriting {
  readonly fields: readonly SqlField[];
  /** Those whose answers are replaced. */
  readonly wanted: readonly SqlField[];
  readonly columns: ReadonlySet<string>;
  readonly change: (cell: Cell) => string | null;
}

/** Replaces each stored answer of some fields, in rows and in versions, deleted rows included. An answer that is hashed stays. */
async function rewrite(
  tx: Session,
  what: Extract<Erasure, { kind: 'columns' | 'rehash' }>,
  { state, fields, columns }: Erasing,
): Promise<number> {
  const isThere = ({ column, isInMore }: SqlField): boolean =>
    column !== null && columns.has(isInMore ? MORE : column);
  const ids = new Set(what.fieldIds);
  const wanted = fields.filter((field) => ids.has(field.id) && isThere(field));
  if (wanted.length === 0) return 0;
  const change = (cell: Cell): string | null =>
    what.kind === 'columns' ? null : cellText(looksHashed(cell) ? cell : what.hash(cell));
  const rewriting = { fields, wanted, columns, change };
  const rows = await rewriteRows(tx, state.place, rewriting);
  await rewriteVersions(tx, state.formId, rewriting);
  return rows;
}

/** How many rows had an answer that was replaced. */
async function rewriteRows(
  tx: Session,
  place: string,
  { fields, wanted, columns, change }: Rewriting,
): Promise<number> {
  const more = wanted.some(({ isInMore }) => isInMore)
    ? fields.filter(({ isInMore }) => isInMore)
    : [];
  const names = wanted.flatMap((field) => ownColumns(field, columns));
  if (more.length > 0) names.push(MORE);
  const update = `UPDATE ${quoted(place)} SET ${names.map((name, at) => `${quoted(name)} = $${at + 1}`).join(', ')} WHERE id = $${names.length + 1}`;
  let rows = 0;
  for await (const page of pagesOf(tx, {
    select: ['id', ...names.map(quoted)].join(', '),
    from: quoted(place),
    where: [],
    params: [],
    size: ROWS_AT_ONCE,
  }))
    for (const row of page) {
      const values = rewritten(row, { more, wanted, change });
      if (values === null) continue;
      await tx.run(update, [...names.map((name) => values[name] ?? null), textOf(row['id'])]);
      rows++;
    }
  return rows;
}

/** Versions keep their answers by column name, as JSON. A text that cannot be read as JSON keeps none of them. */
async function rewriteVersions(
  tx: Session,
  formId: string,
  { fields, wanted, change }: Rewriting,
): Promise<void> {
  const more = fields.filter(({ isInMore }) => isInMore);
  const versions = await tx.query(
    'SELECT submission_id, until, answers FROM _mirror_versions WHERE form_id = $1 AND answers IS NOT NULL',
    [formId],
  );
  for (const { submission_id: id, until, answers } of versions) {
    const parsed = parseJson(textOf(answers));
    const kept = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
    // SQLite keeps JSON as text, PostgreSQL as a value.
    const row = Object.fromEntries(
      kept.map(([name, value]) => [name, cellText(toCell(value as Json))] as const),
    );
    const values = rewritten(row, { more, wanted, change }) ?? {};
    const next = new Map([...kept, ...Object.entries(values)]);
    await tx.run(
      'UPDATE _mirror_versions SET answers = $1 WHERE form_id = $2 AND submission_id = $3 AND until = $4',
      [JSON.stringify(Object.fromEntries(next)), formId, textOf(id), textOf(until)],
    );
  }
}

/**
 * The columns of these fields with their answers replaced; null where nothing changes. The text that replaces an answer goes where a
 * text answer of the field goes: a column of numbers or JSON cannot hold it.
 */
function rewritten(
  row: Readonly<Record<string, unknown>>,
  { more, wanted, change }: Pick<Rewriting, 'wanted' | 'change'> & { more: readonly SqlField[] },
): Readonly<Record<string, string | null>> | null {
  const own = wanted.filter(({ isInMore }) => !isInMore);
  const cells = decodeRow([...own, ...more], row);
  const values: Record<string, string | null> = {};
  let isChanged = false;
  for (const { id, column, textColumn, type, isInMore } of wanted) {
    const cell = cells.get(id) ?? null;
    const next = cell === null ? null : change(cell);
    if (next !== cell) isChanged = true;
    cells.set(id, next);
    if (isInMore) continue;
    values[column ?? ''] = type === 'text' ? next : null;
    if (textColumn !== null) values[textColumn] = type === 'text' ? null : next;
  }
  if (more.length > 0) values[MORE] = encodeMore(more, cells);
  return isChanged ? values : null;
}
