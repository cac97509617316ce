import { createHash } from 'node:crypto';
import { uniqueName } from '../../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import type { SyncedView } from '../dialect.ts';
import { type FormTable, MORE_COLUMN, type ViewColumn } from '../field-column.ts';
import type { SqlSession } from '../sql-session.ts';
import { MysqlError } from './mysql-errors.ts';
import { backticked } from './mysql-literal.ts';
import { mysqlColumns, mysqlNames } from './mysql-tables.ts';

/**
 * Begins the name by which every view made here calls the form's table, with a digest of its definition behind it: the server
 * keeps no comments, and writes definitions in its own way. A user's view of the same name calls it otherwise.
 */
const MARK = 'forms_mirror_';

/** See {@link SqlDialect.viewLabel}: names have no characters beyond the Basic Multilingual Plane. */
export const mysqlLabel = (label: string): string =>
  label.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD');

/** A column of the view: what of the table it shows, and its name. */
interface ViewItem {
  readonly column: string;
  readonly isMore: boolean;
  readonly label: string;
}

/**
 * Makes the labelled view show these columns. Where views of people are built on it, labels that it had before stay as
 * further columns, so that those go on working.
 */
export async function syncMysqlView(
  tx: SqlSession,
  form: FormTable,
  columns: readonly ViewColumn[],
): Promise<SyncedView> {
  const items = itemsFor(columns);
  const definition = await viewDefinition(tx, form.view);
  if (definition === undefined || !definition.includes(MARK)) {
    const taken = await mysqlNames(tx);
    const name = taken.has(form.view.toLowerCase()) ? uniqueName(form.view, taken) : form.view;
    await tx.exec(viewSql(name, form.table, items));
    return { name, columns };
  }
  const shown = formerItems(definition, items);
  if (definition.includes(markOf(form.table, [...items, ...shown])))
    return { name: form.view, columns };
  const former = (await isUsed(tx, form.view)) ? await readableItems(tx, form.table, shown) : [];
  await tx.exec(viewSql(form.view, form.table, [...items, ...former]));
  return { name: form.view, columns };
}

function itemsFor(columns: readonly ViewColumn[]): ViewItem[] {
  const system = SYSTEM_COLUMNS.map((name) => ({ column: name, isMore: false, label: name }));
  const labelled = columns.map(({ part: { storage, name }, label }) => ({
    column: name,
    isMore: storage === 'more',
    label,
  }));
  return [...system.slice(0, 3), ...labelled, ...system.slice(3)];
}

const markOf = (table: string, items: readonly ViewItem[]): string =>
  MARK +
  createHash('sha256')
    .update(JSON.stringify([table, items]))
    .digest('hex')
    .slice(0, 16);

function viewSql(view: string, table: string, items: readonly ViewItem[]): string {
  const mark = markOf(table, items);
  const lines = items.map((item) => `${expressionOf(mark, item)} AS ${backticked(item.label)}`);
  return `CREATE OR REPLACE VIEW ${backticked(view)} AS SELECT\n${lines.join(',\n')}\nFROM ${backticked(table)} AS ${mark}`;
}

function expressionOf(mark: string, { column, isMore }: ViewItem): string {
  if (column === '') return 'NULL';
  // Names are plain (see fieldColumnName), so that they need no escape in a JSON path.
  return isMore
    ? `json_unquote(json_extract(${mark}.${MORE_COLUMN}, '$.${column}'))`
    : `${mark}.${backticked(column)}`;
}

/** What the view shows under names that are no labels any more, as the server writes its definition. */
function formerItems(definition: string, items: readonly ViewItem[]): ViewItem[] {
  const current = new Set(items.map(({ label }) => label.toLowerCase()));
  const shown = new RegExp(
    `(NULL|\`${MARK}[0-9a-f]+\`\\.\`([^\`]+)\`|json_unquote\\(json_extract\\(\`${MARK}[0-9a-f]+\`\\.\`${MORE_COLUMN}\`,[^']*'\\$\\.(\\w+)'\\)\\)) AS \`((?:[^\`]|\`\`)*)\``,
    'gi',
  );
  return [...definition.matchAll(shown)]
    .map(([, , column = '', key, label = '']) => ({
      column: key ?? column,
      isMore: key !== undefined,
      label: label.replaceAll('``', '`'),
    }))
    .filter(({ label }) => !current.has(label.toLowerCase()));
}

/** The items with what the table has of them; what it lacks (it may have been made anew) is empty. */
async function readableItems(
  tx: SqlSession,
  table: string,
  items: readonly ViewItem[],
): Promise<ViewItem[]> {
  const present = new Set(await mysqlColumns(tx, table));
  return items.map((item) => {
    const isThere = present.has(item.isMore ? MORE_COLUMN : item.column);
    return isThere ? item : { ...item, column: '', isMore: false };
  });
}

/** What a view is, as the server writes it; undefined when there is none. Rejects where the user may not see it. */
export async function viewDefinition(tx: SqlSession, view: string): Promise<string | undefined> {
  const [row] = await tx.query(
    `SELECT view_definition AS sql_text FROM information_schema.views
     WHERE table_schema = database() AND table_name = $1`,
    [view],
  );
  if (row !== undefined && row['sql_text'] === '') throw new MysqlError({ errno: DENIED });
  return row === undefined ? undefined : String(row['sql_text']);
}

/** `SHOW VIEW command denied`. */
const DENIED = 1142;

/** Whether another view mentions this one. */
async function isUsed(tx: SqlSession, view: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 AS found FROM information_schema.views
     WHERE table_name <> $1 AND instr(view_definition, $2) > 0 LIMIT 1`,
    [view, backticked(view)],
  );
  return rows.length > 0;
}
