/** A part of a CREATE TABLE statement between two commas: where it is, and what it says. */
interface Item {
  readonly start: number;
  readonly text: string;
}

/** What ends what begins with such a character; a doubled one stands for itself. */
const QUOTES: Readonly<Record<string, string>> = { '"': '"', '`': '`', "'": "'", '[': ']' };

/** A column that is declared with no type, or to hold texts, and with nothing else. */
const PLAIN_COLUMN = /^\s*("(?:[^"]|"")+"|\w+)(?:\s+TEXT)?\s*$/i;

/**
 * A CREATE TABLE statement in which these columns have these types. A column that says more than its name, or its name and
 * TEXT, stays as it is: people declared it.
 */
export function declareTypes(sql: string, types: ReadonlyMap<string, string>): string {
  let declared = sql;
  for (const { start, text } of itemsOf(sql).toReversed()) {
    const name = PLAIN_COLUMN.exec(text)?.[1];
    const type = name === undefined ? undefined : types.get(plainName(name));
    if (name === undefined || type === undefined) continue;
    const [indent = ''] = /^\s*/.exec(text) ?? [];
    declared = `${declared.slice(0, start)}${indent}${name} ${type}${declared.slice(start + text.length)}`;
  }
  return declared;
}

const plainName = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;

/** What stands between the outermost parentheses, item by item. */
function itemsOf(sql: string): Item[] {
  const items: Item[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < sql.length; at++) {
    const character = sql[at] ?? '';
    const skipped = endOfUnread(sql, at);
    if (skipped > at) {
      at = skipped;
      continue;
    }
    const isEnd = depth === 1 && (character === ',' || character === ')');
    if (isEnd) items.push({ start, text: sql.slice(start, at) });
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (isEnd || (character === '(' && depth === 1)) start = at + 1;
  }
  return items;
}

/** Where the name, text or comment ends that begins here; `at` where none does. */
function endOfUnread(sql: string, at: number): number {
  const two = sql.slice(at, at + 2);
  if (two === '--') return endAfter(sql, '\n', at + 2);
  if (two === '/*') return endAfter(sql, '*/', at + 2) + 1;
  const end = QUOTES[sql[at] ?? ''];
  return end === undefined ? at : endAfter(sql, end, at + 1);
}

function endAfter(sql: string, end: string, from: number): number {
  const found = sql.indexOf(end, from);
  return found < 0 ? sql.length : found;
}
