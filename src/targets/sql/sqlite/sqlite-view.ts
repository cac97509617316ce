import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { SyncedView } from '../dialect.ts';
import { type FormTable, MORE_COLUMN, type ViewColumn } from '../field-column.ts';
import { quoted, type SqlSession, textOf } from '../sql-session.ts';
import { sqliteNames } from './sqlite-tables.ts';

/** Every view of ours holds this comment; a user's view of the same name does not and is left alone. */
export const VIEW_MARK = '/* made by forms-mirror */';

/** A column of the view as its definition writes it. */
interface ViewItem {
  readonly expression: string;
  readonly label: string;
}

/**
 * Makes the labelled view show these columns. SQLite can't rename a view's column, so the view is created again;
 * where that would break something that users built on it, the former labels stay as further columns. So it is turned to a
 * table that was made anew, too.
 */
export async function syncSqliteView(
  tx: SqlSession,
  form: FormTable,
  columns: readonly ViewColumn[],
): Promise<SyncedView> {
  const items = itemsFor(columns);
  const existing = await viewDefinition(tx, form.view);
  if (existing === undefined || !existing.includes(VIEW_MARK)) {
    const isFree = !(await sqliteNames(tx)).has(form.view.toLowerCase());
    const view = isFree ? form.view : uniqueName(form.view, await sqliteNames(tx));
    await tx.exec(viewSql(view, form.table, items));
    return { name: view, columns };
  }
  const former = await readableItems(tx, form.table, formerItems(existing, items));
  if (existing === viewSql(form.view, form.table, [...items, ...former]))
    return { name: form.view, columns };
  const triggers = await triggersOn(tx, form.view);
  // It showed a table that is gone: what people built on it works again with all of its columns, and is to go on working.
  if (!(await isReadable(tx, form.view)))
    await replaceView(tx, form, [...items, ...former], triggers);
  const working = await workingViews(tx, form.view);
  if (!(await replaceView(tx, form, items, triggers)) || !(await allWork(tx, working))) {
    await replaceView(tx, form, [...items, ...former], triggers);
  }
  return { name: form.view, columns };
}

function itemsFor(columns: readonly ViewColumn[]): ViewItem[] {
  const system = SYSTEM_COLUMNS.map((name) => ({ expression: quoted(name), label: name }));
  const labelled = columns.map(({ part: { storage, name }, label }) => ({
    // Names are plain (see fieldColumnName), so that they need no escape in a JSON path.
    expression: storage === 'more' ? `${MORE_COLUMN} ->> '$.${name}'` : quoted(name),
    label,
  }));
  return [...system.slice(0, 3), ...labelled, ...system.slice(3)];
}

function viewSql(view: string, table: string, items: readonly ViewItem[]): string {
  const lines = items.map(({ expression, label }) => `  ${expression} AS ${quoted(label)}`);
  return `CREATE VIEW ${quoted(view)} AS ${VIEW_MARK} SELECT\n${lines.join(',\n')}\nFROM ${quoted(table)}`;
}

/** What the view shows under names that are no labels any more. Our own definitions have one column a line. */
function formerItems(definition: string, items: readonly ViewItem[]): ViewItem[] {
  const current = new Set(items.map((item) => item.label.toLowerCase()));
  return [...definition.matchAll(/^ {2}(.+?) AS "((?:[^"]|"")*)",?$/gm)]
    .map(([, expression = '', label = '']) => ({
      expression,
      label: label.replaceAll('""', '"'),
    }))
    .filter((item) => !current.has(item.label.toLowerCase()));
}

/** The items with what the table has of them; what it lacks (it may have been made anew) is empty. */
async function readableItems(
  tx: SqlSession,
  table: string,
  items: readonly ViewItem[],
): Promise<ViewItem[]> {
  const readable: ViewItem[] = [];
  for (const { expression, label } of items) {
    const there = await works(tx, `SELECT ${expression} FROM ${quoted(table)} LIMIT 0`);
    readable.push({ expression: there ? expression : 'NULL', label });
  }
  return readable;
}

/** Creates the view again, with the triggers that users put on it. False when a trigger can't be created. */
async function replaceView(
  tx: SqlSession,
  form: FormTable,
  items: readonly ViewItem[],
  triggers: readonly string[],
): Promise<boolean> {
  await tx.exec(`DROP VIEW ${quoted(form.view)}; ${viewSql(form.view, form.table, items)}`);
  try {
    for (const trigger of triggers) await tx.exec(trigger);
    return true;
  } catch {
    return false;
  }
}

/** The statement that made a view; undefined where there is none of that name. */
export async function viewDefinition(tx: SqlSession, view: string): Promise<string | undefined> {
  const [row] = await tx.query(
    "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = $1 COLLATE NOCASE",
    [view],
  );
  return row && textOf(row, 'sql');
}

/** The statements that made the triggers which people put on a view. */
export async function triggersOn(tx: SqlSession, view: string): Promise<string[]> {
  const rows = await tx.query(
    "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = $1 COLLATE NOCASE",
    [view],
  );
  return rows.map((row) => textOf(row, 'sql'));
}

/** Views of other people that can be read now; those on views on our view among them. */
async function workingViews(tx: SqlSession, except: string): Promise<string[]> {
  const rows = await tx.query(
    "SELECT name FROM sqlite_schema WHERE type = 'view' AND name <> $1 COLLATE NOCASE AND instr(sql, $2) = 0",
    [except, VIEW_MARK],
  );
  const working: string[] = [];
  for (const row of rows) {
    const view = textOf(row, 'name');
    if (await isReadable(tx, view)) working.push(view);
  }
  return working;
}

async function allWork(tx: SqlSession, views: readonly string[]): Promise<boolean> {
  for (const view of views) {
    if (!(await isReadable(tx, view))) return false;
  }
  return true;
}

/** Whether everything that a view names is there. */
export const isReadable = (tx: SqlSession, view: string): Promise<boolean> =>
  works(tx, `SELECT * FROM ${quoted(view)} LIMIT 0`);

async function works(tx: SqlSession, sql: string): Promise<boolean> {
  try {
    await tx.query(sql);
    return true;
  } catch {
    return false;
  }
}
