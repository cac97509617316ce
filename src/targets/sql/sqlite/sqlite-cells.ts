import { decimalText, parseNumber } from '../../../mirror/numbers.ts';
import { type Cell, ExactNumber } from '../../../mirror/types.ts';
import type { ColumnType } from '../field-column.ts';

/** An answer as a SQLite column holds it. */
export type SqliteCell = string | number | bigint | null;

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** Longer ones are beyond int64 in any case. */
const INTEGER = /^-?\d{1,19}$/;

/**
 * A cell as SQLite stores it (L10). In a number column: INTEGER where int64 holds it, REAL where a double does, and the
 * decimal as TEXT where neither does, so that one such number leaves the others numbers. In a text column: its text.
 */
export function encodeSqliteCell(cell: Cell, type: ColumnType): SqliteCell {
  if (cell === null || typeof cell === 'string') return cell;
  if (type !== 'text' && Number.isSafeInteger(cell)) return BigInt(cell as number);
  const digits = decimalText(cell);
  if (type === 'text') return digits;
  return toInt64(digits) ?? (cell instanceof ExactNumber ? digits : cell);
}

/** A cell for the overflow column: what SQLite's JSON functions would round becomes text there, too. */
export function inSqliteJson(cell: Cell): Cell {
  return cell instanceof ExactNumber && toInt64(cell.digits) === undefined ? cell.digits : cell;
}

function toInt64(digits: string): bigint | undefined {
  if (!INTEGER.test(digits)) return undefined;
  const integer = BigInt(digits);
  return integer <= MAX_INT64 && integer >= MIN_INT64 ? integer : undefined;
}

/** The text in a column; a placeholder for a BLOB, which only other programs write. */
export const textFrom = (value: unknown): string => (typeof value === 'string' ? value : '[BLOB]');

/** The cell in a column. */
export function decodeSqliteCell(value: unknown, type: ColumnType): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return parseNumber(value.toString());
  if (typeof value === 'number') return value;
  const text = textFrom(value);
  return type === 'number' ? (parseNumber(text) ?? text) : text;
}
