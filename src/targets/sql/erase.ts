import { cellText, looksHashed, toCell } from '../../mirror/cells.ts';
import { parseJson } from '../../mirror/json.ts';
import type { Cell, Json } from '../../mirror/types.ts';
import type { FormState } from '../../mirror/form-state.ts';
import type { Erasure } from '../../mirror/port.ts';
import {
  change,
  changeRows,
  insert,
  pagesOf,
  quoted,
  type Session,
  type SqlField,
  type SqlRow,
  textOf,
  textOrNull,
  timeAt,
  timeOf,
  type Writing,
} from './dialect.ts';
import { decodeRow, encodeMore, MORE, ownColumns } from './fields.ts';
import { forgetInRuns } from './runs.ts';
import { keepVersions } from './write-rows.ts';

/** The target of an erasure: a form, in a transaction. */
interface Erasing {
  readonly tx: Session;
  readonly state: FormState;
  readonly fields: readonly SqlField[];
  readonly columns: ReadonlySet<string>;
  readonly digestOf: (id: string) => string;
  readonly writing: Writing;
}

/** How many rows are rewritten at once. */
const ROWS_AT_ONCE = 2_000;

/** Fields whose answers are replaced, and the replacement. */
interface Rewriting {
  readonly wanted: readonly SqlField[];
  /** All fields without columns of their own, whose answers share one column. */
  readonly more: readonly SqlField[];
  readonly change: (cell: Cell) => string | null;
}

/** Erases within a transaction; `scrub` then removes the bytes from files. Returns the number of rows. */
export async function erase(from: Erasing, what: Erasure): Promise<number> {
  const { tx, state, digestOf } = from;
  switch (what.kind) {
    case 'forget':
      return forget(from, what.ids);
    case 'remember':
      return tx.run(
        `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind = 'forgotten' AND ${tx.dialect.among('id', '$2')}`,
        [state.formId, what.ids.map(digestOf)],
      );
    case 'purge':
      return purge(from, what);
    case 'columns':
      return rewrite(from, what.fieldIds, () => null);
    case 'rehash':
      return rewrite(from, what.fieldIds, (cell) =>
        cellText(looksHashed(cell) ? cell : what.hash(cell)),
      );
  }
}

async function forget(
  { tx, state: { formId, place, commitUs }, digestOf }: Erasing,
  ids: readonly string[],
): Promise<number> {
  const { timeParam, among } = tx.dialect;
  const table = quoted(place);
  const at = timeAt(commitUs, tx.dialect);
  const known = new Map<string, SqlRow>();
  // A live row is more current than the list of rejected submissions.
  for (const [from, params] of [
    [
      `_mirror_entries WHERE form_id = $1 AND kind = 'rejected' AND ${among('id', '$2')}`,
      [formId, ids],
    ],
    [`${table} WHERE _deleted_at IS NULL AND ${among('id', '$1')}`, [ids]],
  ] as const)
    for (const row of await tx.query(`SELECT id, status, created_at FROM ${from}`, params))
      known.set(textOf(row['id']), row);
  // An unknown submission is remembered, too; the source's list later shows its status.
  const entries = [...new Set(ids)].map((id) => ({
    form_id: formId,
    kind: 'forgotten',
    id: digestOf(id),
    status: textOrNull(known.get(id)?.['status'] ?? null),
    created_at: timeParam(timeOf(known.get(id)?.['created_at'])),
    reason: '',
    first_seen_at: at,
    last_seen_at: at,
  }));
  await insert(tx, '_mirror_entries', entries, ['form_id', 'kind', 'id']);
  await change(
    tx,
    `DELETE FROM _mirror_entries WHERE form_id = $1 AND kind <> 'forgotten' AND ${among('id', '$2')}`,
    [formId, ids],
  );
  await change(
    tx,
    `DELETE FROM _mirror_versions WHERE form_id = $1 AND ${among('submission_id', '$2')}`,
    [formId, ids],
  );
  await forgetInRuns(tx, formId, ids);
  return tx.run(`DELETE FROM ${table} WHERE ${among('id', '$1')}`, [ids]);
}

async function purge(
  { tx, state: { formId, place } }: Erasing,
  { deletedBeforeMs, versionsBeforeMs }: Extract<Erasure, { kind: 'purge' }>,
): Promise<number> {
  const table = quoted(place);
  let erased = 0;
  if (deletedBeforeMs !== null) {
    const before = timeAt(deletedBeforeMs * 1_000, tx.dialect);
    await change(
      tx,
      `DELETE FROM _mirror_versions WHERE form_id = $1 AND submission_id IN (SELECT id FROM ${table} WHERE _deleted_at < $2)`,
      [formId, before],
    );
    erased += await tx.run(`DELETE FROM ${table} WHERE _deleted_at < $1`, [before]);
  }
  // Without its end, a version would leave a gap in the history of statuses.
  if (versionsBeforeMs !== null)
    erased += await tx.run(
      'UPDATE _mirror_versions SET answers = NULL WHERE form_id = $1 AND until < $2 AND answers IS NOT NULL',
      [formId, timeAt(versionsBeforeMs * 1_000, tx.dialect)],
    );
  return erased;
}

/** Replaces each stored answer of some fields, in rows (including deleted ones) and in versions. Returns how many rows had one. */
async function rewrite(
  from: Erasing,
  fieldIds: readonly string[],
  change: Rewriting['change'],
): Promise<number> {
  const { fields, columns } = from;
  const ids = new Set(fieldIds);
  const wanted = fields.filter(
    ({ id, column, isInMore }) =>
      ids.has(id) && column !== null && columns.has(isInMore ? MORE : column),
  );
  if (wanted.length === 0) return 0;
  const inMore = fields.filter(({ isInMore }) => isInMore);
  const more = wanted.some(({ isInMore }) => isInMore) ? inMore : [];
  const many = await rewriteRows(from, { wanted, more, change });
  await rewriteVersions(from, { wanted, more, change });
  return many;
}

/** With full history, the versions that end are kept, so that no period is missing; their answers are replaced later. */
async function rewriteRows(
  { tx, columns, writing }: Erasing,
  rewriting: Rewriting,
): Promise<number> {
  const own = rewriting.wanted.flatMap((field) => ownColumns(field, columns));
  if (rewriting.more.length > 0) own.push(MORE);
  const empty = new Set(
    rewriting.wanted.filter(({ type }) => type !== 'text').map(({ column }) => column),
  );
  const names = own.filter((name) => !empty.has(name));
  const { at, answers } = writing;
  const table = quoted(writing.table);
  let many = 0;
  for await (const page of pagesOf(tx, {
    select: ['id', ...own.map(quoted)].join(', '),
    from: table,
    where: [],
    params: [],
    size: ROWS_AT_ONCE,
  })) {
    const rows = page.flatMap((row) => {
      const values = rewritten(row, rewriting);
      const id = textOf(row['id']);
      return values === null ? [] : [[id, at, ...names.map((name) => values[name] ?? null)]];
    });
    many += rows.length;
    if (answers !== null && rows.length > 0) {
      const ended = `${table} AS t WHERE ${tx.dialect.among('t.id', '$4')}`;
      await keepVersions(tx, writing, ended, [rows.map(([id]) => textOf(id))]);
    }
    await changeRows(tx, {
      table,
      keys: ['id'],
      names: ['_changed_at', ...names.map(quoted)],
      emptied: own.filter((name) => empty.has(name)).map(quoted),
      rows,
    });
  }
  return many;
}

/** Versions keep their answers by column name, as JSON. A text that cannot be read as JSON loses all of them. */
async function rewriteVersions(
  { tx, state: { formId } }: Erasing,
  rewriting: Rewriting,
): Promise<void> {
  const keys = ['form_id', 'submission_id', 'until'];
  for await (const page of pagesOf(tx, {
    select: [...keys, 'answers'].join(', '),
    from: '_mirror_versions',
    where: ['form_id = $1', 'answers IS NOT NULL'],
    params: [formId],
    keys,
    size: ROWS_AT_ONCE,
  })) {
    const rows = page.map((version) => {
      const kept = Object.entries(parseJson(textOf(version['answers'])) ?? {});
      // SQLite keeps JSON as text, PostgreSQL as a value.
      const row = Object.fromEntries(
        kept.map(([name, value]) => [name, cellText(toCell(value as Json))] as const),
      );
      const next = [...kept, ...Object.entries(rewritten(row, rewriting) ?? {})];
      const text = JSON.stringify(Object.fromEntries(next));
      return keys.map((key) => textOf(version[key])).concat(text);
    });
    await changeRows(tx, {
      table: '_mirror_versions',
      keys,
      names: ['answers'],
      emptied: [],
      rows,
    });
  }
}

/**
 * The columns of these fields with their answers replaced; null if nothing changes. The replacement goes where the field's text
 * answers go, because a number or JSON column cannot hold it.
 */
function rewritten(
  row: Readonly<Record<string, unknown>>,
  { wanted, more, change }: Rewriting,
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
