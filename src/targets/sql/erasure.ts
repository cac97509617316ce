import { withoutIds } from '../../mirror/forgotten.ts';
import type { Erasure, Traces } from '../../mirror/erasure.ts';
import { plusCounts, tallied } from '../../mirror/status-counts.ts';
import { type DatedStatus, withForgotten } from '../../mirror/window.ts';
import type { Catalogue } from './catalogue.ts';
import type { SqlDialect } from './dialect.ts';
import type { FormTable } from './field-column.ts';
import { readWindows, updateWindow } from './form-windows.ts';
import { readCheckpoints, saveCheckpoint } from './pass-records.ts';
import { readMarkings, saveMarking } from './refused-marks.ts';
import { isStorableId, listable } from './row-batch.ts';
import { heldVersions } from './row-history.ts';
import { noteScrub } from './scrubbing.ts';
import {
  numberOf,
  piecesOf,
  type SqlRow,
  type SqlSession,
  type SqlValue,
  textOf,
  textOrNull,
} from './sql-session.ts';
import { requireNone } from './swallowed-writes.ts';
import { standingOf } from './table-standing.ts';

/** IDs erased by one statement. */
const IDS_A_STATEMENT = 1_000;

/** Where a form's submissions are: its table, undefined when there is none. */
interface Place {
  readonly formId: string;
  readonly table: string | undefined;
  /** Every table that holds versions of them. */
  readonly versions: readonly string[];
}

/** A form's table and its columns, as they are; undefined where it is not there, or not ours any more. */
export async function heldTable(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable | undefined,
): Promise<{ table: string; present: ReadonlySet<string> } | undefined> {
  const present = form && (await dialect.columnsOf(tx, form.table));
  if (form === undefined || standingOf(present) !== 'ours') return undefined;
  return { table: form.table, present: new Set(present) };
}

/** A table that tells of submissions, its column of IDs, and the condition for those of one form (`$2`). */
interface Source {
  readonly part: keyof Traces;
  readonly relation: string;
  readonly idColumn: string;
  readonly ofForm: string | undefined;
}

const sourcesOf = (
  dialect: SqlDialect,
  { table, versions }: Pick<Place, 'table' | 'versions'>,
): Source[] => [
  ...versions.map((one) => ({
    part: 'history' as const,
    relation: dialect.relation(one),
    idColumn: 'id',
    ofForm: undefined,
  })),
  ...(table === undefined
    ? []
    : [
        {
          part: 'rows',
          relation: dialect.relation(table),
          idColumn: 'id',
          ofForm: undefined,
        } as const,
      ]),
  {
    part: 'listings',
    relation: dialect.relation('mirror_rejected'),
    idColumn: 'submission_id',
    ofForm: 'form_id = $2',
  },
  {
    part: 'refusals',
    relation: dialect.relation('mirror_refusals'),
    idColumn: 'submission_id',
    ofForm: 'form_id = $2',
  },
  {
    part: 'history',
    relation: dialect.relation('mirror_status_history'),
    idColumn: 'submission_id',
    ofForm: 'form_id = $2',
  },
];

/** The rows of a source that speak of these submissions: how a statement goes on, and its parameters. */
function whichOf(
  dialect: SqlDialect,
  { relation, idColumn, ofForm }: Source,
  formId: string,
  ids: readonly string[],
): [string, SqlValue[]] {
  const from = `FROM ${relation} WHERE ${dialect.isIn(idColumn, '$1')}`;
  const list = dialect.list(ids);
  return ofForm === undefined ? [from, [list]] : [`${from} AND ${ofForm}`, [list, formId]];
}

/** An ID as it stands in a table, and as a rejection of it would be listed. */
const storedIds = (ids: readonly string[], dialect: SqlDialect): string[] => [
  ...new Set(
    ids.flatMap((id) => [
      ...(isStorableId(id, dialect) ? [id] : []),
      listable({ submissionId: id, reason: '', stored: false }, dialect).submissionId,
    ]),
  ),
];

/** What is held of these submissions. */
export async function countTraces(
  { session, dialect }: Catalogue,
  place: Place,
  ids: readonly string[],
): Promise<Traces> {
  const counts = { rows: 0, listings: 0, refusals: 0, history: 0 };
  const { formId } = place;
  for (const source of sourcesOf(dialect, place)) {
    for (const piece of piecesOf(storedIds(ids, dialect), IDS_A_STATEMENT)) {
      const [which, params] = whichOf(dialect, source, formId, piece);
      const [row] = await session.query(`SELECT count(*) AS n ${which}`, params);
      counts[source.part] += row === undefined ? 0 : numberOf(row, 'n');
    }
  }
  return counts;
}

/**
 * Deletes everything that is held of these submissions, and counts the loss as meant; how much that was, and those of
 * the rows that were `live`. `present`: the columns of the table.
 */
export async function eraseSubmissions(
  tx: SqlSession,
  dialect: SqlDialect,
  { present, ...place }: Place & { readonly present: ReadonlySet<string> },
  ids: readonly string[],
  at: string,
): Promise<Erasure & { readonly live: readonly DatedStatus[] }> {
  const { formId, table } = place;
  if (dialect.scrubs) await noteScrub(tx, dialect, formId, at);
  const counts = { rows: 0, listings: 0, refusals: 0, history: 0 };
  const live: DatedStatus[] = [];
  const kept = ['_deleted_at', 'status'].filter((column) => present.has(column));
  const dated = present.has('created_at') ? [`${dialect.timeText('created_at')} AS dated`] : [];
  for (const source of sourcesOf(dialect, place)) {
    const isRows = source.part === 'rows';
    const told = [source.idColumn, ...(isRows ? [...kept, ...dated] : [])].join(', ');
    for (const piece of piecesOf(storedIds(ids, dialect), IDS_A_STATEMENT)) {
      const [which, params] = whichOf(dialect, source, formId, piece);
      const rows = await tx.query(`DELETE ${which} RETURNING ${told}`, params);
      counts[source.part] += rows.length;
      const isLive = (row: SqlRow): boolean => (row['_deleted_at'] ?? null) === null;
      if (isRows) live.push(...rows.filter(isLive).map((row) => datedStatus(row, dialect)));
      if (isRows && table !== undefined)
        await requireNone(tx, dialect, table, [dialect.isIn('id', '$1'), [dialect.list(piece)]]);
    }
  }
  return { ...counts, left: [], live };
}

const datedStatus = (row: SqlRow, dialect: SqlDialect): DatedStatus => ({
  status: textOrNull(row, 'status') ?? '',
  createdAt: dialect.time(row['dated']),
});

/** Accounts for live rows that were forgotten, as the source counts them all the same: what has no row takes their place. */
export async function accountForgotten(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  rows: readonly DatedStatus[],
): Promise<void> {
  if (rows.length === 0) return;
  const catalogue = { session: tx, dialect };
  const checkpoint = (await readCheckpoints(catalogue, formId)).get(formId);
  if (checkpoint !== undefined) {
    const unstored = plusCounts(checkpoint.unstored, tallied(rows));
    await saveCheckpoint(tx, dialect, formId, { ...checkpoint, unstored });
  }
  for (const window of await readWindows(catalogue, formId)) {
    const after = withForgotten(window, rows);
    if (after.unstored !== window.unstored) await updateWindow(tx, dialect, formId, after);
  }
}

/** Takes the IDs of what is noted as forgotten out of what passes and marking recorded as their errors. */
export async function eraseFromMessages(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  ids: readonly string[],
): Promise<void> {
  const passes = dialect.relation('mirror_passes');
  const rows = await tx.query(
    `SELECT id, error FROM ${passes} WHERE form_id = $1 AND error IS NOT NULL`,
    [formId],
  );
  for (const row of rows) {
    const text = textOf(row, 'error');
    const rest = withoutIds(text, ids);
    if (rest === text) continue;
    await tx.query(`UPDATE ${passes} SET error = $1 WHERE id = $2`, [rest, numberOf(row, 'id')]);
  }
  const catalogue = { session: tx, dialect };
  const record = (await readMarkings(catalogue)).get(formId);
  if (record !== undefined) await saveMarking(tx, dialect, formId, { record, named: ids });
}

/** Where deleted submissions of a form are looked for: its table, and that of its versions, where it has one. */
interface DeletedPlace {
  readonly table: string;
  readonly versions: string | undefined;
}

/** The IDs of what was marked deleted before `$1`. */
const deletedBefore = (dialect: SqlDialect, table: string): string =>
  `SELECT id FROM ${dialect.relation(table)} WHERE _deleted_at < $1`;

/** Those of what has versions alone, whose row people removed: the last of them ended before `$1`. */
const leftBefore = (dialect: SqlDialect, { table, versions }: DeletedPlace): string | undefined =>
  versions === undefined
    ? undefined
    : `SELECT v.id FROM ${dialect.relation(versions)} AS v
       WHERE NOT EXISTS (SELECT 1 FROM ${dialect.relation(table)} AS o WHERE o.id = v.id)
       GROUP BY v.id HAVING count(*) = count(v._valid_to) AND max(v._valid_to) < $1`;

/** How many submissions were marked deleted before `before`, or lost their row before then and have versions still. */
export async function countDeleted(
  session: SqlSession,
  dialect: SqlDialect,
  place: DeletedPlace,
  before: string,
): Promise<number> {
  let count = 0;
  for (const ids of [deletedBefore(dialect, place.table), leftBefore(dialect, place)]) {
    if (ids === undefined) continue;
    const sql = `SELECT count(*) AS n FROM (${ids}) AS d`;
    const [row] = await session.query(sql, [dialect.timeValue(before)]);
    count += row === undefined ? 0 : numberOf(row, 'n');
  }
  return count;
}

/** Some of their IDs; none when none is left. */
export async function someDeleted(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable | undefined,
  before: string,
): Promise<string[]> {
  const held = await heldTable(tx, dialect, form);
  if (held?.present.has('_deleted_at') !== true) return [];
  const history = form?.history ?? undefined;
  const versions = history && (await heldVersions(tx, dialect, history))?.table;
  for (const ids of [
    deletedBefore(dialect, held.table),
    leftBefore(dialect, { table: held.table, versions }),
  ]) {
    if (ids === undefined) continue;
    const rows = await tx.query(`${ids} LIMIT ${IDS_A_STATEMENT}`, [dialect.timeValue(before)]);
    if (rows.length > 0) return rows.map((row) => textOf(row, 'id'));
  }
  return [];
}
