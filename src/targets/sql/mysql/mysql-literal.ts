import type { SqlValue } from '../sql-session.ts';

/** A name as an identifier, whatever the session's `sql_mode` is. */
export const backticked = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/**
 * A text as a literal that means the same whether `sql_mode` has NO_BACKSLASH_ESCAPES or not: what is in it comes from
 * whoever fills in a form.
 */
export function textLiteral(text: string): string {
  return /[\\\0]/.test(text)
    ? `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
    : `'${text.replaceAll("'", "''")}'`;
}

/** A number as a literal of type DOUBLE, which the server reads to the nearest double, and so exactly. */
export function doubleLiteral(number: number): string {
  if (!Number.isFinite(number)) throw new TypeError('no finite number');
  const text = String(number);
  return text.includes('e') ? text : `${text}e0`;
}

/** A parameter as a literal; a list as what stands between the parentheses of `IN (…)`. */
export function literal(value: SqlValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value === 'object') {
    return value.length === 0 ? 'NULL' : value.map(literal).join(', ');
  }
  return typeof value === 'bigint' || Number.isSafeInteger(value)
    ? String(value)
    : doubleLiteral(value);
}
