import type { Loss } from '../../mirror/losses.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { SqlDialect } from './dialect.ts';
import { type Catalogue, loadForm } from './catalogue.ts';
import { type FieldColumn, type FieldStorage, MORE_COLUMN } from './field-column.ts';
import { reopenWindows } from './form-windows.ts';
import { numberOf, run, type SqlRow, type SqlSession, textOrNull } from './sql-session.ts';
import { standingOf } from './table-standing.ts';

/*
 * What of a form was lost. `mirror_forms` counts what was stored (`row_count`, those of them that are not marked deleted in
 * `live_count`, `rejected_count`), in the same transaction as the rows, and remembers in `losses` what `prepare` created again, until a proven full pass has filled it.
 */

/** How many rows, rows that are not marked deleted, and listed rejections there are of a form. */
export interface StoredCounts {
  readonly rows: number;
  readonly live: number;
  readonly rejections: number;
}

/** What {@link findLosses} found. */
export interface FoundLosses {
  readonly losses: readonly Loss[];
  /** What is there, and what was counted, at the instant of the comparison. Null: not counted. */
  readonly held: StoredCounts;
  readonly counted: { readonly [Part in keyof StoredCounts]: number | null };
}

/** What `mirror_forms` says, as a SELECT list: how much was stored, and what is remembered as lost. */
export const COUNT_COLUMNS = 'row_count, live_count, rejected_count, losses';

/**
 * Compares a form's table and list of rejections with what was stored. One statement, and so one instant: a batch that is
 * being written is in both counts or in neither.
 */
export async function findLosses(
  { session, dialect }: Catalogue,
  formId: string,
): Promise<FoundLosses> {
  const form = await loadForm(session, dialect, formId);
  if (form === undefined) {
    const none = { rows: 0, live: 0, rejections: 0 };
    return { losses: [], held: none, counted: none };
  }
  const present = await dialect.columnsOf(session, form.table);
  const { rows, live } = rowCounts(dialect, form.table, present);
  const [row] = await session.query(
    `SELECT ${COUNT_COLUMNS}, ${rows} AS held_rows, ${live} AS held_live,
       (SELECT count(*) FROM ${dialect.relation('mirror_rejected')} WHERE form_id = $1) AS held_rejections
     FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1`,
    [formId],
  );
  if (row === undefined) throw new TypeError('a form without its row');
  const held = {
    rows: numberOf(row, 'held_rows'),
    live: numberOf(row, 'held_live'),
    rejections: numberOf(row, 'held_rejections'),
  };
  const lost = tableLosses(dialect, form.table, form.fields, present);
  const countOf = (column: string): number | null =>
    row[column] === null ? null : numberOf(row, column);
  const counted = {
    rows: countOf('row_count'),
    live: countOf('live_count'),
    rejections: countOf('rejected_count'),
  };
  return { losses: lossesOf(row, held, lost), held, counted };
}

/**
 * What counts a table's rows, and those that are not marked deleted, as expressions. An index answers each of them: the
 * key, and the one over what is not deleted. To count the deleted reads every row.
 */
export function rowCounts(
  dialect: SqlDialect,
  table: string,
  present: readonly string[] | undefined,
): { rows: string; live: string } {
  if (standingOf(present) === 'gone') return { rows: '0', live: '0' };
  const rows = `(SELECT count(*) FROM ${dialect.relation(table)}`;
  const isMarked = present?.includes('_deleted_at') === true;
  return { rows: `${rows})`, live: isMarked ? `${rows} WHERE _deleted_at IS NULL)` : `${rows})` };
}

/** What the columns of {@link COUNT_COLUMNS} say beside what is there; `lost`: what was seen to be missing. */
export function lossesOf(row: SqlRow, held: StoredCounts, lost: readonly Loss[]): Loss[] {
  const isPlaceGone = lost.some(({ what }) => what === 'place');
  const missing = (column: string, there: number): number =>
    row[column] === null ? 0 : numberOf(row, column) - there;
  const missingRows = missing('row_count', held.rows);
  const all: Loss[] = [...rememberedLosses(textOrNull(row, 'losses')), ...lost];
  if (row['row_count'] === null) all.push({ what: 'uncounted' });
  if (missingRows !== 0 && !isPlaceGone) all.push({ what: 'rows', missing: missingRows });
  // Without its column no row is marked, and with rows missing it is not known how many of them were.
  const isUnmarked = all.some((loss) => 'name' in loss && loss.name === '_deleted_at');
  const missingLive = missing('live_count', held.live);
  if (missingLive !== 0 && missingRows === 0 && !isPlaceGone && !isUnmarked) {
    all.push({ what: 'marks', missing: missingLive });
  }
  const isListGone = all.some((loss) => 'name' in loss && loss.name === 'table mirror_rejected');
  const missingListings = missing('rejected_count', held.rejections);
  if (missingListings !== 0 && !isListGone) {
    all.push({ what: 'records', name: 'content of mirror_rejected', missing: missingListings });
  }
  return distinct(all);
}

function rememberedLosses(text: string | null): Loss[] {
  if (text === null) return [];
  try {
    return JSON.parse(text) as Loss[];
  } catch {
    // Only another program writes anything else; what it replaced is not known.
    return [{ what: 'records', name: 'content of mirror_forms' }];
  }
}

const distinct = (losses: readonly Loss[]): Loss[] => [
  ...new Map(losses.map((loss) => [JSON.stringify(loss), loss])).values(),
];

/** What a form's table lacks: itself, or some of its columns. */
export function tableLosses(
  dialect: Pick<SqlDialect, 'shownRelation'>,
  table: string,
  expected: readonly ExpectedColumn[],
  present: readonly string[] | undefined,
): Loss[] {
  if (present === undefined || standingOf(present) === 'gone') return [placeLost(dialect, table)];
  return columnsLost(expected, present);
}

/** The table was dropped or has another name. */
export const placeLost = (dialect: Pick<SqlDialect, 'shownRelation'>, table: string): Loss => ({
  what: 'place',
  name: `table ${dialect.shownRelation(table)}`,
});

/** What a field's column is known by. */
export type ExpectedColumn = Pick<
  FieldColumn,
  'label' | 'column' | 'storage' | 'textColumn' | 'textStorage'
>;

/** The columns that a form's table should have and does not, in our own order. */
export function columnsLost(
  expected: readonly ExpectedColumn[],
  present: readonly string[],
): Loss[] {
  const there = new Set(present);
  const isLost = (storage: FieldStorage, column: string): boolean =>
    !there.has(storage === 'more' ? MORE_COLUMN : column);
  const names = [
    ...SYSTEM_COLUMNS.filter((name) => !there.has(name)),
    ...expected.flatMap(({ label, storage, column, textStorage, textColumn }) => [
      ...(isLost(storage, column) ? [label] : []),
      ...(textColumn !== null && isLost(textStorage, textColumn) ? [`${label} (text)`] : []),
    ]),
  ];
  return names.map((name) => ({ what: 'column', name }));
}

/** Counts what a transaction stored and deleted. */
export async function addCounts(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  change: StoredCounts,
): Promise<void> {
  if (Object.values(change).every((number) => number === 0)) return;
  await run(
    tx,
    `UPDATE ${dialect.relation('mirror_forms')}
     SET row_count = row_count + $1, live_count = live_count + $2, rejected_count = rejected_count + $3
     WHERE form_id = $4`,
    [change.rows, change.live, change.rejections, formId],
  );
}

/** Begins to count the rows of a table that was just made. */
export async function beginCounts(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  isNewForm: boolean,
): Promise<void> {
  await tx.query(
    `UPDATE ${dialect.relation('mirror_forms')}
     SET row_count = 0, live_count = 0${isNewForm ? ', rejected_count = 0' : ''} WHERE form_id = $1`,
    [formId],
  );
}

/**
 * Remembers losses that were found just now until {@link settleLosses}: what made them good in form is still empty. In the
 * same step no window counts as proven any more, though the same had been lost before: it was filled since, and is empty again.
 */
export async function rememberLosses(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  losses: readonly Loss[],
): Promise<void> {
  if (losses.length === 0) return;
  const known = await remembered(tx, dialect, formId);
  await saveLosses(tx, dialect, formId, distinct([...known, ...losses]));
  await reopenWindows(tx, dialect, formId);
}

/**
 * Begins to count what was not counted, from what is there now: so whatever any writer stores from now on adds to a number.
 * That it was not counted is remembered until {@link settleLosses}. In the transaction that found it, with no other writer.
 */
export async function countUncounted(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  { losses, held, counted }: FoundLosses,
): Promise<void> {
  if (Object.values(counted).every((number) => number !== null)) return;
  const uncounted = losses.filter(({ what }) => what === 'uncounted');
  await rememberLosses(tx, dialect, formId, uncounted);
  await tx.query(
    `UPDATE ${dialect.relation('mirror_forms')} SET row_count = coalesce(row_count, $1),
       live_count = coalesce(live_count, $2), rejected_count = coalesce(rejected_count, $3)
     WHERE form_id = $4`,
    [held.rows, held.live, held.rejections, formId],
  );
}

/**
 * After a proven full pass: what `found` names is settled. The counts move by how much they were off then: what this writer
 * and others have stored since is counted already, and what people deleted in the meantime is not, so that the next pass
 * finds it.
 */
export async function settleLosses(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  { losses, held, counted }: FoundLosses,
): Promise<void> {
  if (losses.length === 0) return;
  const settled = new Set(losses.map((loss) => JSON.stringify(loss)));
  const known = await remembered(tx, dialect, formId);
  const rest = known.filter((loss) => !settled.has(JSON.stringify(loss)));
  await saveLosses(tx, dialect, formId, rest);
  await addCounts(tx, dialect, formId, {
    rows: held.rows - (counted.rows ?? held.rows),
    live: held.live - (counted.live ?? held.live),
    rejections: held.rejections - (counted.rejections ?? held.rejections),
  });
}

async function remembered(tx: SqlSession, dialect: SqlDialect, formId: string): Promise<Loss[]> {
  const [row] = await tx.query(
    `SELECT losses FROM ${dialect.relation('mirror_forms')} WHERE form_id = $1`,
    [formId],
  );
  return rememberedLosses(row === undefined ? null : textOrNull(row, 'losses'));
}

async function saveLosses(
  tx: SqlSession,
  dialect: SqlDialect,
  formId: string,
  losses: readonly Loss[],
): Promise<void> {
  await tx.query(`UPDATE ${dialect.relation('mirror_forms')} SET losses = $1 WHERE form_id = $2`, [
    losses.length === 0 ? null : JSON.stringify(losses),
    formId,
  ]);
}
