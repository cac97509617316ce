import type { Cell } from '../../../mirror/types.ts';
import { looksHashed } from '../../../mirror/hashing.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Erasure } from '../../mirror/port.ts';
import {
  type Dialect,
  type Param,
  quoted,
  type Session,
  type SqlField,
  textOf,
} from './database.ts';
import { MORE } from './fields.ts';
import { countTally } from './tally.ts';

/** What is erased from. */
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
  readonly fields: readonly SqlField[];
  readonly rows: number;
}

/** Erases within a transaction; bytes that are left in files are for `scrub`. */
export async function eraseFrom(
  tx: Session,
  dialect: Dialect,
  what: Erasure,
  from: Erasing,
): Promise<Erased> {
  const { state, fields } = from;
  const rows = await eraseRows(tx, dialect, what, from);
  return { state: { ...state, tally: await countTally(tx, state) }, fields, rows };
}

async function eraseRows(
  tx: Session,
  dialect: Dialect,
  what: Erasure,
  from: Erasing,
): Promise<number> {
  switch (what.kind) {
    case 'forget':
      return forget(tx, dialect, what.ids, from);
    case 'remember': {
      const digests = JSON.stringify(what.ids.map((id) => from.digestOf(id)));
      return tx.run(
        `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' AND ${dialect.among('id', '$2')}`,
        [from.state.formId, digests],
      );
    }
    case 'purge':
      return purge(tx, dialect, what, from);
    case 'columns':
    case 'rehash':
      return rewrite(tx, what.fieldIds, what.kind === 'rehash' ? what.hash : () => null, from);
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
    const [entry] = await tx.query(
      `SELECT status, created_at FROM _mirror_entries WHERE form_id = $1 AND kind = 'rejected' AND id = $2`,
      [formId, id],
    );
    const known = row ?? entry;
    // One that is not known is remembered too; the source's list says later what it counts as.
    await tx.run(
      `INSERT INTO _mirror_entries (form_id, kind, id, status, created_at, reason, is_stored, first_seen_at, last_seen_at)
       VALUES ($1, 'forgotten', $2, $3, $4, '', 0, $5, $6) ON CONFLICT (form_id, kind, id) DO NOTHING`,
      [
        formId,
        digest,
        known === undefined ? '' : textOf(known['status']),
        known === undefined ? null : dialect.timeOf(known['created_at']),
        at,
        at,
      ],
    );
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
    const before = dialect.nameOf(deletedBeforeMs * 1_000);
    await tx.run(
      `DELETE FROM _mirror_versions WHERE form_id = $1 AND submission_id IN (SELECT id FROM ${quoted(place)} WHERE _deleted_at < $2)`,
      [formId, before],
    );
    erased += await tx.run(`DELETE FROM ${quoted(place)} WHERE _deleted_at < $1`, [before]);
  }
  if (versionsBeforeMs !== null)
    erased += await tx.run('DELETE FROM _mirror_versions WHERE form_id = $1 AND until < $2', [
      formId,
      dialect.nameOf(versionsBeforeMs * 1_000),
    ]);
  return erased;
}

/** Replaces each stored answer of some fields: in rows, in those that are marked deleted, and in versions. */
async function rewrite(
  tx: Session,
  fieldIds: readonly string[],
  change: (cell: Cell) => Cell,
  { state, fields, columns }: Erasing,
): Promise<number> {
  const table = quoted(state.place);
  const wanted = new Set(fieldIds);
  const names: string[] = [];
  for (const { id, column, textColumn, isInMore } of fields) {
    if (!wanted.has(id) || column === null) continue;
    for (const name of isInMore ? [] : [column, textColumn])
      if (name !== null && columns.has(name)) names.push(name);
  }
  const changed = (value: unknown): Param => {
    if (value === null || value === undefined) return null;
    const cell =
      typeof value === 'number' || typeof value === 'bigint' ? String(value) : textOf(value);
    if (looksHashed(cell)) return cell;
    const next = change(cell);
    return typeof next === 'string' || next === null ? next : textOf(next);
  };
  let rows = 0;
  for (const name of names) {
    const column = quoted(name);
    for (const row of await tx.query(
      `SELECT id, ${column} AS v FROM ${table} WHERE ${column} IS NOT NULL`,
    )) {
      const next = changed(row['v']);
      if (next === row['v']) continue;
      rows += await tx.run(`UPDATE ${table} SET ${column} = $1 WHERE id = $2`, [
        next,
        textOf(row['id']),
      ]);
    }
  }
  const inMore = fields.flatMap(({ id, column, isInMore }) =>
    wanted.has(id) && column !== null && isInMore ? [column] : [],
  );
  if (inMore.length > 0 && columns.has(MORE))
    for (const row of await tx.query(
      `SELECT id, ${MORE} AS v FROM ${table} WHERE ${MORE} IS NOT NULL`,
    ))
      await tx.run(`UPDATE ${table} SET ${MORE} = $1 WHERE id = $2`, [
        changedIn(textOf(row['v']), inMore, changed),
        textOf(row['id']),
      ]);
  await rewriteVersions(tx, state.formId, [...names, ...inMore], changed);
  return rows;
}

async function rewriteVersions(
  tx: Session,
  formId: string,
  names: readonly string[],
  changed: (value: unknown) => Param,
): Promise<void> {
  const versions = await tx.query(
    'SELECT submission_id, until, answers FROM _mirror_versions WHERE form_id = $1 AND answers IS NOT NULL',
    [formId],
  );
  for (const { submission_id: id, until, answers } of versions)
    await tx.run(
      'UPDATE _mirror_versions SET answers = $1 WHERE form_id = $2 AND submission_id = $3 AND until = $4',
      [changedIn(textOf(answers), names, changed), formId, textOf(id), textOf(until)],
    );
}

/** A JSON object with some of its values changed. */
function changedIn(
  text: string,
  names: readonly string[],
  changed: (value: unknown) => Param,
): string {
  const values = JSON.parse(text) as Record<string, unknown>;
  for (const name of names) if (Object.hasOwn(values, name)) values[name] = changed(values[name]);
  return JSON.stringify(values);
}
