import { cellText } from '../../../mirror/cell.ts';
import { jsonDepth } from '../../../mirror/json-text.ts';
import { parseNumber } from '../../../mirror/numbers.ts';
import { type Cell, ExactNumber, JsonText } from '../../../mirror/types.ts';
import type { AnswerLimits } from '../answer-parts.ts';
import type { AnswerType } from '../field-column.ts';

/** An answer as a SQLite column holds it, or as {@link toBound} makes it so. */
export type SqliteCell = string | number | bigint | null;

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** Longer ones are beyond int64 in any case. */
const INTEGER = /^-?\d{1,19}$/;

/** How deep SQLite's functions for JSON go (JSON_MAX_DEPTH). */
const MAX_JSON_DEPTH = 1_000;

/** See {@link AnswerLimits}. A number column has affinity NUMERIC, which holds what an int64 or a double does. */
export const SQLITE_LIMITS: AnswerLimits = {
  fitsNumberColumn: (number) => typeof number === 'number' || toInt64(number.digits) !== undefined,
  fitsJsonColumn: (json) => jsonDepth(json) <= MAX_JSON_DEPTH,
};

/** What a column holds of an answer as SQLite stores it, once {@link toBound} (L10): in a number column INTEGER where int64 holds it, else REAL. */
export function encodeSqliteCell(cell: Cell, type: AnswerType): SqliteCell {
  if (cell === null || typeof cell === 'string') return cell;
  if (type !== 'number') return cellText(cell);
  // Most numbers are small: a bigint is several times dearer to send to another thread.
  if (typeof cell === 'number' && (Number.isSafeInteger(cell) || !Number.isInteger(cell))) {
    return cell;
  }
  return toInt64(cellText(cell) ?? '') ?? (typeof cell === 'number' ? cell : cellText(cell));
}

/** A cell as it is bound, and read: what is whole as a bigint, which is how `node:sqlite` tells INTEGER from REAL. */
export const toBound = (cell: SqliteCell): SqliteCell =>
  typeof cell === 'number' && Number.isSafeInteger(cell) ? BigInt(cell) : cell;

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

/** The cell in a column. Only other programs write a text into one of numbers. */
export function decodeSqliteCell(value: unknown, type: AnswerType): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return parseNumber(value.toString());
  if (typeof value === 'number') return value;
  const text = textFrom(value);
  if (type === 'json') return new JsonText(text);
  return type === 'number' ? (parseNumber(text) ?? text) : text;
}
