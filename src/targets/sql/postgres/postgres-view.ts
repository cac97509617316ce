import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { SyncedView } from '../dialect.ts';
import { type FormTable, MORE_COLUMN, type ViewColumn } from '../field-column.ts';
import { quoted, type SqlSession, textOf } from '../sql-session.ts';
import { qualified } from './postgres-names.ts';
import { postgresColumns, postgresNames } from './postgres-tables.ts';

/**
 * Makes the labelled view show these columns. What people built on it follows: a column is renamed in place, a new one
 * is added at the end, and none is ever taken away. A view that is not as we left it is somebody's: it stays, and ours
 * gets another name.
 */
export async function syncPostgresView(
  tx: SqlSession,
  schema: string,
  form: FormTable,
  columns: readonly ViewColumn[],
): Promise<SyncedView> {
  const name = qualified(schema, form.view);
  const present = await postgresColumns(tx, name);
  if (present === undefined || !isOurs(present, columns) || !(await isView(tx, name))) {
    const view = await freeName(tx, schema, form.view);
    const order = [...SYSTEM_COLUMNS.slice(0, 3), ...columns, ...SYSTEM_COLUMNS.slice(3)];
    await tx.exec(`CREATE VIEW ${qualified(schema, view)} AS ${selection(schema, form, order)}`);
    return { name: view, columns };
  }
  await renameColumns(tx, name, present, columns);
  const added = await addableColumns(tx, name, columns);
  if (added.length > 0) {
    const byOldLabel = new Map(columns.map((column) => [column.oldLabel, column]));
    const order = [...present.map((label) => byOldLabel.get(label) ?? label), ...added];
    await tx.exec(`CREATE OR REPLACE VIEW ${name} AS ${selection(schema, form, order)}`);
  }
  const shown = new Set([...columns.filter((column) => column.oldLabel !== null), ...added]);
  return { name: form.view, columns: columns.filter((column) => shown.has(column)) };
}

/**
 * The columns to add. When somebody built on the view, its columns can't change their type any more, so one that holds
 * nothing yet waits for its first answer, which decides whether it holds numbers.
 */
async function addableColumns(
  tx: SqlSession,
  view: string,
  columns: readonly ViewColumn[],
): Promise<ViewColumn[]> {
  const added = columns.filter((column) => column.oldLabel === null);
  const isOpen = ({ field }: ViewColumn): boolean =>
    field.type === null && field.storage === 'column';
  if (!added.some(isOpen) || !(await hasDependants(tx, view))) return added;
  return added.filter((column) => !isOpen(column));
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
function isOurs(present: readonly string[], columns: readonly ViewColumn[]): boolean {
  const expected = new Set<string>(SYSTEM_COLUMNS);
  for (const { oldLabel } of columns) if (oldLabel !== null) expected.add(oldLabel);
  return present.length === expected.size && present.every((label) => expected.has(label));
}

async function isView(tx: SqlSession, name: string): Promise<boolean> {
  const rows = await tx.query(
    "SELECT relkind FROM pg_class WHERE oid = to_regclass($1) AND relkind = 'v'",
    [name],
  );
  return rows.map((row) => textOf(row, 'relkind')).length > 0;
}

async function freeName(tx: SqlSession, schema: string, name: string): Promise<string> {
  return uniqueName(name, await postgresNames(tx, schema));
}

/** Labels may change places, so each goes by a name of its own in between where it has to. */
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
  const names = more.map((column) => `${quoted((column as ViewColumn).field.column)} text`);
  // One look into the overflow column for all that is in it.
  const join =
    names.length === 0
      ? ''
      : ` LEFT JOIN LATERAL jsonb_to_record(t.${MORE_COLUMN}) AS m(${names.join(', ')}) ON true`;
  return `SELECT ${items.join(', ')} FROM ${qualified(schema, form.table)} AS t${join}`;
}

const isMore = (column: ViewColumn): boolean => column.field.storage === 'more';

function expressionOf(column: ViewColumn): string {
  const { field, isNumberTwin } = column;
  if (isMore(column)) return `m.${quoted(field.column)}`;
  return `t.${quoted(isNumberTwin ? (field.numberColumn ?? field.column) : field.column)}`;
}
