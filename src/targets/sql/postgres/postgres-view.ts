import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { SyncedView } from '../dialect.ts';
import { type FormTable, MORE_COLUMN, type ViewColumn } from '../field-column.ts';
import { inSavepoint, quoted, type SqlSession } from '../sql-session.ts';
import { isBlockedByDependants } from './postgres-errors.ts';
import { qualified } from './postgres-names.ts';
import { postgresColumns, postgresNames } from './postgres-tables.ts';
import { grantsOn } from './postgres-types.ts';

/**
 * Makes the labelled view show these columns. What users built on it keeps working: a column is renamed in place, a new
 * one is added at the end, and none is dropped. A view that has other columns than it was given, or another owner, belongs to
 * a user: it stays, and ours gets another name.
 */
export async function syncPostgresView(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  columns: readonly ViewColumn[],
  former: readonly string[],
): Promise<SyncedView> {
  const name = qualified(schema, form.view);
  const present = await postgresColumns(tx, name);
  if (present === undefined || !isOurs(present, former) || !(await isOwnView(tx, name))) {
    return createView(tx, schema, form, columns);
  }
  if (!(await isOnTable(tx, name, qualified(schema, form.table)))) {
    return turnView(tx, schema, form, { present, columns });
  }
  await renameColumns(tx, name, present, columns);
  const added = await addableColumns(tx, name, columns);
  if (added.length > 0) await replaceView(tx, schema, form, { present, columns, added });
  return { name: form.view, columns: shownColumns(columns, added) };
}

const shownColumns = (
  columns: readonly ViewColumn[],
  added: readonly ViewColumn[],
): readonly ViewColumn[] =>
  columns.filter((column) => column.oldLabel !== null || added.includes(column));

/** What a view shows now, and what it is to show. */
interface ViewChange {
  readonly present: readonly string[];
  readonly columns: readonly ViewColumn[];
}

async function createView(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  columns: readonly ViewColumn[],
): Promise<SyncedView> {
  const view = await freeName(tx, schema, form.view);
  const order = [...SYSTEM_COLUMNS.slice(0, 3), ...columns, ...SYSTEM_COLUMNS.slice(3)];
  await tx.exec(`CREATE VIEW ${qualified(schema, view)} AS ${selection(schema, form, order)}`);
  return { name: view, columns };
}

/**
 * A view of ours that shows a table to which people gave another name, and there is another one in its place. Its columns
 * can stay as they are unless one has another type by now; then it is made again, unless something depends on it: that stays,
 * and ours gets another name.
 */
async function turnView(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  { present, columns }: ViewChange,
): Promise<SyncedView> {
  const name = qualified(schema, form.view);
  const grants = await grantsOn(tx, schema, form.view);
  const inPlace = async (): Promise<SyncedView> => {
    const added = await addableColumns(tx, name, columns);
    await renameColumns(tx, name, present, columns);
    await replaceView(tx, schema, form, { present, columns, added });
    return { name: form.view, columns: shownColumns(columns, added) };
  };
  const madeAgain = async (): Promise<SyncedView> => {
    await tx.exec(`DROP VIEW ${name}`);
    const view = await createView(tx, schema, form, columns);
    for (const grant of grants) await tx.exec(grant);
    return view;
  };
  for (const attempt of [inPlace, madeAgain]) {
    try {
      return await inSavepoint(tx, attempt);
    } catch (error) {
      if (!isBlockedByDependants(error)) throw error;
    }
  }
  return createView(tx, schema, form, columns);
}

async function replaceView(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  { present, columns, added }: ViewChange & { readonly added: readonly ViewColumn[] },
): Promise<void> {
  const byOldLabel = new Map(columns.map((column) => [column.oldLabel, column]));
  const order = [...present.map((label) => byOldLabel.get(label) ?? label), ...added];
  const name = qualified(schema, form.view);
  await tx.exec(`CREATE OR REPLACE VIEW ${name} AS ${selection(schema, form, order)}`);
}

/**
 * The columns to add. When something depends on the view, its columns can't change their type any more, so a column
 * without values is left out until its first answer decides whether it holds numbers.
 */
async function addableColumns(
  tx: SqlSession,
  view: string,
  columns: readonly ViewColumn[],
): Promise<ViewColumn[]> {
  const added = columns.filter((column) => column.oldLabel === null);
  const isOpen = ({ part }: ViewColumn): boolean =>
    part.kind === 'own' && part.field.type === null && part.storage === 'column';
  if (!added.some(isOpen) || !(await hasDependants(tx, view))) return added;
  return added.filter((column) => !isOpen(column));
}

/** False when people gave the table that the view shows another name, and there is another one in its place. */
async function isOnTable(tx: SqlSession, view: string, table: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS found FROM pg_depend AS d JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
     WHERE r.ev_class = to_regclass($1) AND d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass($2) LIMIT 1`,
    [view, table],
  );
  return rows.length > 0;
}

async function hasDependants(tx: SqlSession, view: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS found FROM pg_depend
     WHERE refclassid = 'pg_class'::regclass AND refobjid = to_regclass($1) AND deptype = 'n'
       AND NOT (classid = 'pg_rewrite'::regclass
         AND objid IN (SELECT oid FROM pg_rewrite WHERE ev_class = to_regclass($1)))
     LIMIT 1`,
    [view],
  );
  return rows.length > 0;
}

/** True when the view has exactly the columns that we gave it. */
function isOurs(present: readonly string[], former: readonly string[]): boolean {
  const expected = new Set<string>([...SYSTEM_COLUMNS, ...former]);
  return present.length === expected.size && present.every((label) => expected.has(label));
}

/** True for a view that our role owns, nobody else's can be changed anyway, and whose definition holds `mark`. */
export async function isOwnView(tx: SqlSession, name: string, mark = ''): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS found FROM pg_class
     WHERE oid = to_regclass($1) AND relkind = 'v' AND pg_has_role(relowner, 'USAGE')
       AND strpos(pg_get_viewdef(oid), $2) > 0`,
    [name, mark],
  );
  return rows.length > 0;
}

async function freeName(tx: SqlSession, schema: string, name: string): Promise<string> {
  return uniqueName(name, await postgresNames(tx, schema));
}

/** Labels may be swapped, so a column is renamed by way of a temporary name where its new one is taken. */
async function renameColumns(
  tx: SqlSession,
  view: string,
  present: readonly string[],
  columns: readonly ViewColumn[],
): Promise<void> {
  const renames = columns.flatMap(({ oldLabel, label }) =>
    oldLabel === null || oldLabel === label ? [] : [{ from: oldLabel, to: label }],
  );
  const taken = new Set(present);
  const first: string[] = [];
  const second: string[] = [];
  renames.forEach(({ from, to }, index) => {
    const between = taken.has(to) ? `_forms_mirror_${index}` : undefined;
    const rename = (old: string, name: string): string =>
      `ALTER TABLE ${view} RENAME COLUMN ${quoted(old)} TO ${quoted(name)}`;
    first.push(rename(from, between ?? to));
    if (between !== undefined) second.push(rename(between, to));
  });
  if (first.length > 0) await tx.exec([...first, ...second].join('; '));
}

/** The view's query; a text stands for a system column. */
function selection(
  schema: string,
  form: FormTable,
  order: readonly (ViewColumn | string)[],
): string {
  const items = order.map((column) =>
    typeof column === 'string'
      ? `t.${quoted(column)}`
      : `${expressionOf(column)} AS ${quoted(column.label)}`,
  );
  const more = order.filter((column) => typeof column !== 'string' && isMore(column));
  const names = more.map((column) => `${quoted((column as ViewColumn).part.name)} text`);
  // The overflow column is parsed once a row, not once a field.
  const join =
    names.length === 0
      ? ''
      : ` LEFT JOIN LATERAL jsonb_to_record(t.${MORE_COLUMN}) AS m(${names.join(', ')}) ON true`;
  return `SELECT ${items.join(', ')} FROM ${qualified(schema, form.table)} AS t${join}`;
}

const isMore = ({ part }: ViewColumn): boolean => part.storage === 'more';

const expressionOf = (column: ViewColumn): string =>
  `${isMore(column) ? 'm' : 't'}.${quoted(column.part.name)}`;
