import { MirrorError } from '../../base/errors.ts';
import { uniqueName } from '../../mirror/column-names.ts';
import { partsOf } from './answer-parts.ts';
import { saveCopy } from './catalogue-copy.ts';
import { saveHistory } from './catalogue.ts';
import type { RowLimits, SqlDialect } from './dialect.ts';
import { type AnswerPart, type FormHistory, type FormTable, MORE_COLUMN } from './field-column.ts';
import { piecesOf, quoted, type SqlSession, type SqlValue, textOf } from './sql-session.ts';

/*
 * `<table>_history`, where TARGET_HISTORY asks for it: every version that a row had, with what it held, from `_valid_from` on
 * and before `_valid_to` (null while it is the row as it is now). A row that is marked deleted has a version that says so.
 * Versions are written in the transaction that changes the rows, from the rows themselves. A column comes with the first
 * answer, which gives it its type.
 *
 * It begins with the rows as they are at the first pass once it is turned on, which a look gives the form. When it is turned off
 * the last versions end: of the time until it is turned on again it tells nothing.
 */

/** Rows of one statement. */
const ROWS_A_STATEMENT = 1_000;

/** Columns that every history begins with, and the form's tables have as well. */
const ROW_COLUMNS = ['id', 'status', 'created_at'];

/** Columns that tell a table of versions, and one that held them before people changed it. */
export const HISTORY_MARKS: readonly string[] = ['_valid_from', '_valid_to', '_is_deleted'];

/** All columns of a history that hold no answers to one field. */
const OWN_COLUMNS = [...ROW_COLUMNS, MORE_COLUMN, ...HISTORY_MARKS];

const isKept = ({ field, kind, storage }: AnswerPart): boolean =>
  storage === 'column' && (field.type !== null || kind !== 'own');

/** Whether what has these columns is a history of ours, and nothing that people made in its place. */
export const isHistory = (columns: readonly string[]): boolean =>
  ['id', ...HISTORY_MARKS].every((name) => columns.includes(name));

/** A form's history and its columns, as they are; undefined where it is not there, or not ours. */
export async function heldVersions(
  session: SqlSession,
  dialect: SqlDialect,
  { table }: FormHistory,
): Promise<{ table: string; present: readonly string[] } | undefined> {
  const present = await dialect.columnsOf(session, table);
  return present !== undefined && isHistory(present) ? { table, present } : undefined;
}

/**
 * The tables that hold versions of a form's rows, with those that people changed, from which no pass reads any more: what is erased is
 * erased there, too. `keyless`: one without a column `id`, so that nobody can tell whose versions it holds.
 */
export async function tablesOfVersions(
  session: SqlSession,
  dialect: SqlDialect,
  form: Pick<FormTable, 'table' | 'history'> | undefined,
): Promise<{ readonly tables: readonly string[]; readonly keyless: string | undefined }> {
  if (!form?.history) return { tables: [], keyless: undefined };
  const first = historyName(form.table);
  const isLater = (name: string): boolean =>
    name.startsWith(first) && /^_\d+$/.test(name.slice(first.length));
  const others = [...(await dialect.relationNames(session))].filter(
    (name) => name === first || isLater(name),
  );
  const columns = await dialect.columnsOfEach(session, new Set([form.history.table, ...others]));
  const held = [...columns].filter(([, names]) =>
    HISTORY_MARKS.some((mark) => names.includes(mark)),
  );
  const [keyed, keyless] = [true, false].map((is) =>
    held.filter(([, names]) => names.includes('id') === is).map(([name]) => name),
  );
  return { tables: keyed ?? [], keyless: keyless?.[0] };
}

/** What is said of a history from which nothing can be erased. */
export const idsGone = (dialect: Pick<RowLimits, 'product'>, table: string): MirrorError =>
  new MirrorError(
    'TARGET_FAILED',
    `The ${dialect.product} table ${table} holds versions of submissions, but has no column id any more: whose they are can't be told. ` +
      'Give that column its name back, or drop the table, and try again.',
    { retryable: false },
  );

const historyName = (table: string): string => `${table}_history`;

const keepsMore = (form: FormTable): boolean =>
  partsOf(form.fields).some(({ storage }) => storage === 'more');

/**
 * Begins the history of a form, ends it, or gives it the columns that the form's table got; the form with it. Alone, and
 * after the table is as it is to be.
 */
export async function followHistory(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  { isWanted, at }: { readonly isWanted: boolean; readonly at: string },
): Promise<FormTable> {
  const { history } = form;
  if (!isWanted && history?.isOpen !== true) return form;
  const present = history && (await heldVersions(tx, dialect, history))?.present;
  if (!isWanted) {
    if (history && present !== undefined) {
      const relation = dialect.relation(history.table);
      await endVersions(tx, dialect, relation, ['1 = $2', [1]], at);
    }
    const ended = history ? { ...history, isOpen: false } : null;
    return saved(tx, dialect, { ...form, history: ended });
  }
  // Where people made something else of its name, it takes another one.
  const isTaken = !present && history && (await dialect.columnsOf(tx, history.table)) !== undefined;
  const table = history && !isTaken ? history.table : await freeName(tx, dialect, form);
  if (present === undefined || present === null) {
    // A process that dies once it is made leaves an empty one, which the next pass begins.
    if (dialect.stepwise !== undefined)
      await saved(tx, dialect, { ...form, history: { table, isOpen: false } });
    await createHistory(tx, dialect, form, table);
  } else await addColumns(tx, dialect, form, { table, present });
  if (present && history.isOpen) return form;
  const begun = { ...form, history: { table, isOpen: true } };
  await insertVersions(tx, dialect, begun, { at, which: ['1 = $2', [1]] });
  return saved(tx, dialect, begun);
}

async function saved(tx: SqlSession, dialect: SqlDialect, form: FormTable): Promise<FormTable> {
  await saveHistory(tx, dialect, form.form.id, form.history ?? null);
  await saveCopy(tx, dialect, form);
  return form;
}

async function freeName(tx: SqlSession, dialect: SqlDialect, form: FormTable): Promise<string> {
  await dialect.lockCatalogue(tx);
  return uniqueName(historyName(form.table), await dialect.relationNames(tx));
}

const definition = (dialect: SqlDialect, { name, type }: AnswerPart): string =>
  `${quoted(name)} ${dialect.answerTypes[type]}`;

async function createHistory(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  table: string,
): Promise<void> {
  const { id, time, boolean } = dialect.types;
  const columns = [
    `id ${id} NOT NULL`,
    `status ${id} NOT NULL`,
    `created_at ${time}`,
    ...partsOf(form.fields)
      .filter(isKept)
      .map((part) => definition(dialect, part)),
    ...(keepsMore(form) ? [`${MORE_COLUMN} ${dialect.answerTypes.more}`] : []),
    `_valid_from ${time} NOT NULL`,
    `_valid_to ${time}`,
    `_is_deleted ${boolean} NOT NULL`,
    'PRIMARY KEY (id, _valid_from)',
  ];
  await tx.exec(`CREATE TABLE ${dialect.relation(table)} (${columns.join(', ')})`);
}

async function addColumns(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  { table, present }: { readonly table: string; readonly present: readonly string[] },
): Promise<void> {
  const missing = partsOf(form.fields).filter(
    (part) => isKept(part) && !present.includes(part.name),
  );
  const more = keepsMore(form) && !present.includes(MORE_COLUMN);
  if (missing.length === 0 && !more) return;
  await dialect.addColumns(tx, table, missing, more);
  if (form.history?.isOpen !== true) return;
  // Where people dropped it: of what is so now it tells again. That of a new field has nothing to tell yet.
  const [versions, rows] = [dialect.relation(table), dialect.relation(form.table)];
  for (const name of [...missing.map((part) => part.name), ...(more ? [MORE_COLUMN] : [])]) {
    const column = quoted(name);
    await tx.query(
      `UPDATE ${versions} SET ${column} = (SELECT o.${column} FROM ${rows} AS o WHERE o.id = ${versions}.id)
       WHERE _valid_to IS NULL AND id IN (SELECT o.id FROM ${rows} AS o WHERE o.${column} IS NOT NULL)`,
    );
  }
}

/** A condition on rows, whose parameters begin with `$2`. */
type Which = readonly [condition: string, params: readonly SqlValue[]];

/** The least that a version lasts: times are written in milliseconds. */
const LEAST_MS = 1;

/**
 * What began in this very instant was never true before it ended. What began later, by a clock that was ahead, was: it lasts a
 * moment, and the next one begins after it.
 */
async function endVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  relation: string,
  [condition, params]: Which,
  at: string,
): Promise<void> {
  const open = `_valid_to IS NULL AND ${condition}`;
  const values = [dialect.timeValue(at), ...params];
  await tx.query(`DELETE FROM ${relation} WHERE _valid_from = $1 AND ${open}`, values);
  const end = (to: string): Promise<unknown> =>
    tx.query(`UPDATE ${relation} SET _valid_to = $1 WHERE _valid_from < $1 AND ${open}`, [
      dialect.timeValue(to),
      ...params,
    ]);
  await end(at);
  const ahead = await tx.query(
    `SELECT DISTINCT ${dialect.timeText('_valid_from')} AS begun FROM ${relation} WHERE _valid_from > $1 AND ${open}`,
    values,
  );
  const begunMs = ahead.map((row) => Date.parse(dialect.time(row['begun']) ?? at));
  // The earliest first: each ends what began before the moment when it ends.
  for (const ms of begunMs.toSorted((one, other) => one - other)) {
    await end(new Date(ms + LEAST_MS).toISOString());
  }
}

/** No version begins before the one before it ended, though the clock may have been set back since. */
async function insertVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  { at, which: [condition, params] }: { readonly at: string; readonly which: Which },
): Promise<void> {
  const held = form.history && (await heldVersions(tx, dialect, form.history));
  if (!held) return;
  const { present } = held;
  const own = partsOf(form.fields)
    .filter(({ storage }) => storage === 'column')
    .map(({ name }) => name);
  const columns = [...ROW_COLUMNS, ...own, MORE_COLUMN].filter((name) => present.includes(name));
  const names = columns.map(quoted).join(', ');
  // By name: `*` leaves out columns that people hid, which MySQL and MariaDB know.
  const read = [...columns, '_deleted_at'].map((name) => `o.${quoted(name)}`).join(', ');
  const relation = dialect.relation(held.table);
  const last = `SELECT max(h._valid_to) FROM ${relation} AS h WHERE h.id = o.id`;
  await tx.query(
    `INSERT INTO ${relation} (${names}, _valid_from, _is_deleted)
     SELECT ${names}, CASE WHEN t.ended > $1 THEN t.ended ELSE $1 END, _deleted_at IS NOT NULL
     FROM (SELECT ${read}, (${last}) AS ended FROM ${dialect.relation(form.table)} AS o WHERE ${condition}) AS t`,
    [dialect.timeValue(at), ...params],
  );
}

/** Ends the versions that these rows had, and begins those that they have now. */
export async function recordVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  ids: readonly string[],
  at: string,
): Promise<void> {
  const { history } = form;
  if (history?.isOpen !== true || ids.length === 0) return;
  // Dropped meanwhile: the next pass makes it again.
  if ((await heldVersions(tx, dialect, history)) === undefined) return;
  const relation = dialect.relation(history.table);
  for (const piece of piecesOf(ids, ROWS_A_STATEMENT)) {
    const which: Which = [dialect.isIn('id', '$2'), [dialect.list(piece)]];
    await endVersions(tx, dialect, relation, which, at);
    await insertVersions(tx, dialect, form, { at, which });
  }
}

/** Says of the versions that these rows have now that they are deleted: they were written anew, and were so before. */
export async function retractRestorations(
  tx: SqlSession,
  dialect: SqlDialect,
  { history }: FormTable,
  ids: readonly string[],
): Promise<void> {
  if (history?.isOpen !== true || (await heldVersions(tx, dialect, history)) === undefined) return;
  for (const piece of piecesOf(ids, ROWS_A_STATEMENT)) {
    await tx.query(
      `UPDATE ${dialect.relation(history.table)} SET _is_deleted = $1
       WHERE _valid_to IS NULL AND ${dialect.isIn('id', '$2')}`,
      [dialect.boolean(true), dialect.list(piece)],
    );
  }
}

/** After a pass that made losses good: ends the versions of rows that did not come back. */
export async function endLostVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  at: string,
): Promise<void> {
  const held = form.history && (await heldVersions(tx, dialect, form.history));
  if (!held) return;
  const relation = dialect.relation(held.table);
  const rows = `SELECT 1 FROM ${dialect.relation(form.table)} AS o WHERE o.id = ${relation}.id`;
  await endVersions(tx, dialect, relation, [`1 = $2 AND NOT EXISTS (${rows})`, [1]], at);
}

/** Some of the rows whose versions one step of {@link pruneVersions} removes. */
const PRUNED_AT_ONCE = 1_000;

/** Removes versions that ended before `before` (ISO), of some rows; how many rows had any. */
export async function pruneVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable | undefined,
  before: string,
): Promise<number> {
  const history = form?.history;
  if (!history || (await heldVersions(tx, dialect, history)) === undefined) return 0;
  const relation = dialect.relation(history.table);
  const rows = await tx.query(
    `SELECT DISTINCT id FROM ${relation} WHERE _valid_to <= $1 LIMIT ${PRUNED_AT_ONCE}`,
    [dialect.timeValue(before)],
  );
  if (rows.length > 0) {
    await tx.query(
      `DELETE FROM ${relation} WHERE _valid_to <= $1 AND ${dialect.isIn('id', '$2')}`,
      [dialect.timeValue(before), dialect.list(rows.map((row) => textOf(row, 'id')))],
    );
  }
  return rows.length;
}

/** Empties columns in every version, or in those that ended: what stood there is not to stand anywhere any more (L18). */
export async function clearVersions(
  tx: SqlSession,
  dialect: SqlDialect,
  form: FormTable,
  fieldIds: ReadonlySet<string>,
  which: 'all' | 'ended',
): Promise<void> {
  const { history } = form;
  const present = history && (await heldVersions(tx, dialect, history))?.present;
  if (!history || !present) return;
  const parts = partsOf(form.fields.filter(({ id }) => fieldIds.has(id)));
  const sets = parts
    .filter(({ storage, name }) => storage === 'column' && present.includes(name))
    .map(({ name }) => `${quoted(name)} = NULL`);
  // Beside the column of a table that was dropped there may have been others, whose fields nobody knows any more.
  const known = new Set([...OWN_COLUMNS, ...partsOf(form.fields).map(({ name }) => name)]);
  if (parts.length > 0)
    sets.push(
      ...present.filter((name) => !known.has(name)).map((name) => `${quoted(name)} = NULL`),
    );
  const keys = parts.filter(({ storage }) => storage === 'more').map(({ name }) => name);
  if (keys.length > 0 && present.includes(MORE_COLUMN))
    sets.push(`${MORE_COLUMN} = ${dialect.withoutKeys(MORE_COLUMN, keys)}`);
  if (sets.length === 0) return;
  await tx.query(
    `UPDATE ${dialect.relation(history.table)} SET ${sets.join(', ')}${which === 'all' ? '' : ' WHERE _valid_to IS NOT NULL'}`,
  );
}
