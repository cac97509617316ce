import type { Param } from '../dialect.ts';

/**
 * A text as a literal that means the same under any `sql_mode`. People who fill in forms write these texts, and a proxy may change
 * the mode of a session.
 */
export const textLiteral = (text: string): string =>
  /[\\\0]/.test(text)
    ? `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
    : `'${text.replaceAll("'", "''")}'`;

/** A parameter as a literal; a list as the items for `IN (…)`. */
export function valueLiteral(value: Param): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value === 'object')
    return value.length === 0 ? 'NULL' : value.map(textLiteral).join(', ');
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  const text = String(value);
  // With an exponent it is a DOUBLE, which the server reads as the nearest double; without one, a DECIMAL.
  return text.includes('e') ? text : `${text}e0`;
}

/** Quoted names and texts, in which nothing is replaced, and parameters. */
const QUOTED_OR_PARAMETER = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

/** A statement with its parameters as literals. */
export const withValues = (sql: string, params: readonly Param[]): string =>
  params.length === 0
    ? sql
    : sql.replace(QUOTED_OR_PARAMETER, (found, number: string | undefined) =>
        number === undefined ? found : valueLiteral(params[Number(number) - 1] ?? null),
      );
