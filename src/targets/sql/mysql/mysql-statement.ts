import type { SqlValue } from '../sql-session.ts';
import { literal } from './mysql-literal.ts';

/*
 * The SQL that all products share is written for PostgreSQL and SQLite. What MySQL and MariaDB write otherwise is
 * translated here, statement by statement; anything that is not understood is refused, never guessed. Keywords are in
 * capitals in it, and no name is.
 */

/** How a shared statement runs. All but `plain` are for a transaction: they take several statements. */
export type Translated =
  | { readonly kind: 'plain'; readonly sql: string }
  /** The rows that `read` gives (and locks) are those that `write` changes or deletes. */
  | { readonly kind: 'returning'; readonly read: string; readonly write: string }
  /** Each inserts one row, unless there is one with its key; what it returns then. */
  | { readonly kind: 'inserting'; readonly rows: readonly InsertedRow[] }
  /** The rows that `read` gives are those that `write` inserted or updated. */
  | { readonly kind: 'upserting'; readonly write: string; readonly read: string };

/** A row that is inserted by itself. */
interface InsertedRow {
  readonly sql: string;
  readonly returned: Readonly<Record<string, unknown>>;
}

/** Quoted names and texts, in which nothing is translated, and parameters. */
const QUOTED_OR_PARAMETER = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\$(\d+)/g;

/** `$1`, `$2`, … replaced by the parameters as literals. Throws TypeError where one is missing. */
export function withValues(sql: string, params: readonly SqlValue[]): string {
  return sql.replace(QUOTED_OR_PARAMETER, (found, number: string | undefined) => {
    if (number === undefined) return found;
    const value = params[Number(number) - 1];
    if (value === undefined) throw new TypeError(`no parameter $${number}`);
    return literal(value);
  });
}

const OPERAND = String.raw`(?:[\w.]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\$\d+|[\w."${'`'}]+)`;
const DISTINCT = new RegExp(`(${OPERAND}) IS (NOT )?DISTINCT FROM (${OPERAND})`, 'g');
const INSERT =
  /^INSERT INTO (\S+)\s+\(([^)]*)\)\s+VALUES (.*?)(?:\s+ON CONFLICT \(([^)]*)\)\s+DO (NOTHING|UPDATE SET .*?))?(?:\s+RETURNING (.*))?$/s;
const DELETE = /^DELETE FROM (\S+)(?: AS (\w+))?(?:\s+WHERE (.*?))?(?:\s+RETURNING (.*))?$/s;
const UPDATE_RETURNING = /^UPDATE (\S+)\s+SET (.*?)\s+WHERE (.*?)\s+RETURNING (.*)$/s;

/** How one statement of the shared SQL runs here. */
export function translated(sql: string, params: readonly SqlValue[]): Translated {
  const bound = (text: string): string => withValues(text, params);
  const text = sql
    .trim()
    .replace(DISTINCT, (_, left: string, not: string | undefined, right: string) =>
      not === undefined ? `NOT (${left} <=> ${right})` : `${left} <=> ${right}`,
    );
  const insert = INSERT.exec(text);
  if (insert !== null) return insertion(insert, bound);
  const [, table = '', alias, condition = '1 = 1', returned] = DELETE.exec(text) ?? [];
  if (table !== '') {
    const from = alias === undefined ? table : `${table} AS ${alias}`;
    const write = `DELETE ${alias === undefined ? '' : `${alias} `}FROM ${from} WHERE ${condition}`;
    if (returned === undefined) return { kind: 'plain', sql: bound(write) };
    const read = `SELECT ${returned} FROM ${from} WHERE ${condition} FOR UPDATE`;
    return { kind: 'returning', read: bound(read), write: bound(write) };
  }
  const [, updated, changes = '', which = '', columns = ''] = UPDATE_RETURNING.exec(text) ?? [];
  if (updated !== undefined) {
    const read = `SELECT ${columns} FROM ${updated} WHERE ${which} FOR UPDATE`;
    const write = `UPDATE ${updated} SET ${changes} WHERE ${which}`;
    return { kind: 'returning', read: bound(read), write: bound(write) };
  }
  if (/\bRETURNING\b|\bON CONFLICT\b/.test(text))
    throw new TypeError('an unknown kind of statement');
  return { kind: 'plain', sql: bound(text) };
}

function insertion(match: RegExpExecArray, bound: (text: string) => string): Translated {
  const [, table = '', columnList = '', values = '', keyList, action, returned] = match;
  const columns = namesIn(columnList);
  const key = namesIn(keyList ?? '');
  const [first = columns[0] ?? ''] = key;
  // Not INSERT IGNORE, which cuts what does not fit and calls it a success.
  const changes =
    action === undefined || action === 'NOTHING'
      ? `${first} = ${first}`
      : action
          .slice('UPDATE SET '.length)
          .replace(/\bexcluded\.("[^"]+"|\w+)/g, (_, column: string) => `VALUES(${column})`);
  const into = `INSERT INTO ${table} (${columnList}) VALUES `;
  const otherwise = keyList === undefined ? '' : ` ON DUPLICATE KEY UPDATE ${changes}`;
  if (returned === undefined) return { kind: 'plain', sql: bound(into + values + otherwise) };
  const rows = tuplesIn(values);
  if (action === 'NOTHING') {
    return {
      kind: 'inserting',
      rows: rows.map((tuple) => ({
        sql: bound(`${into}(${tuple.join(', ')})${otherwise}`),
        returned: Object.fromEntries(
          namesIn(returned).map((name) => [
            name,
            plainText(bound(tuple[columns.indexOf(name)] ?? 'NULL')),
          ]),
        ),
      })),
    };
  }
  if (action === undefined) throw new TypeError('an INSERT without a key that returns something');
  const keys = rows.map(
    (tuple) => `(${key.map((name) => tuple[columns.indexOf(name)] ?? 'NULL').join(', ')})`,
  );
  const read = `SELECT ${returned} FROM ${table} WHERE (${key.join(', ')}) IN (${keys.join(', ')})`;
  return { kind: 'upserting', write: bound(into + values + otherwise), read: bound(read) };
}

const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** The rows of a VALUES list of parameters and plain literals, each as its items. */
function tuplesIn(values: string): string[][] {
  const rows = [...values.matchAll(/\(([^()]*)\)/g)].map(([, items = '']) => namesIn(items));
  if (rows.length === 0) throw new TypeError('an INSERT without rows');
  return rows;
}

/** What a literal says: texts, and what they are written as where they hold a backslash. */
function plainText(written: string): unknown {
  const [, hex] = /^_utf8mb4 x'([0-9a-f]*)'$/.exec(written) ?? [];
  if (hex !== undefined) return Buffer.from(hex, 'hex').toString();
  if (written.startsWith("'")) return written.slice(1, -1).replaceAll("''", "'");
  return written === 'NULL' ? null : written;
}
