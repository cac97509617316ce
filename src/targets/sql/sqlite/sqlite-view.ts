import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { SyncedView } from '../dialect.ts';
import { type FormTable, MORE_COLUMN, type ViewColumn } from '../field-column.ts';
import { quoted, type SqlSession, textOf } from '../sql-session.ts';
import { sqliteNames } from './sqlite-tables.ts';

/** Ours hold this comment, so that a view of somebody else under the same name is left alone. */
const MARK = '/* made by forms-mirror */';

/** A column of the view as its definition writes it. */
interface ViewItem {
  readonly expression: string;
  readonly label: string;
}

/**
 * Makes the labelled view show these columns. SQLite can't rename a view's column, so the view is made anew; where
 * something that people built on it would break by that, the former labels stay as further columns.
 */
export async function syncSqliteView(
  tx: SqlSession,
  form: FormTable,
  columns: readonly ViewColumn[],
): Promise<SyncedView> {
  const items = itemsFor(columns);
  const existing = await definitionOf(tx, form.view);
  if (existing === undefined || !existing.includes(MARK)) {
    const isFree = !(await sqliteNames(tx)).has(form.view.toLowerCase());
    const view = isFree ? form.view : uniqueName(form.view, await sqliteNames(tx));
    await tx.exec(viewSql(view, form.table, items));
    return { name: view, columns };
  }
  const former = formerItems(existing, items);
  if (existing === viewSql(form.view, form.table, [...items, ...former]))
    return { name: form.view, columns };
  const working = await workingViews(tx, form.view);
  const triggers = await triggersOn(tx, form.view);
  if (!(await replaceView(tx, form, items, triggers)) || !(await allWork(tx, working))) {
    await replaceView(tx, form, [...items, ...former], triggers);
  }
  return { name: form.view, columns };
}

function itemsFor(columns: readonly ViewColumn[]): ViewItem[] {
  const system = SYSTEM_COLUMNS.map((name) => ({ expression: quoted(name), label: name }));
  const labelled = columns.map(({ field, label }) => ({
    // Names are plain (see fieldColumnName), so that they need no escape in a JSON path.
    expression:
      field.storage === 'more' ? `${MORE_COLUMN} ->> '$.${field.column}'` : quoted(field.column),
    label,
  }));
  return [...system.slice(0, 3), ...labelled, ...system.slice(3)];
}

function viewSql(view: string, table: string, items: readonly ViewItem[]): string {
  const lines = items.map(({ expression, label }) => `  ${expression} AS ${quoted(label)}`);
  return `CREATE VIEW ${quoted(view)} AS ${MARK} SELECT\n${lines.join(',\n')}\nFROM ${quoted(table)}`;
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

/** Makes the view anew with the triggers that people put on it. False when one of those refuses. */
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

async function definitionOf(tx: SqlSession, view: string): Promise<string | undefined> {
  const [row] = await tx.query(
    "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = $1 COLLATE NOCASE",
    [view],
  );
  return row && textOf(row, 'sql');
}

async function triggersOn(tx: SqlSession, view: string): Promise<string[]> {
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
    [except, MARK],
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

async function isReadable(tx: SqlSession, view: string): Promise<boolean> {
  try {
    await tx.query(`SELECT * FROM ${quoted(view)} LIMIT 0`);
    return true;
  } catch {
    return false;
  }
}
