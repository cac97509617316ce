import { canonicalTime } from '../../../mirror/canonical-time.ts';
import { decimalText, parseNumber } from '../../../mirror/numbers.ts';
import type { Cell } from '../../../mirror/types.ts';
import type { ColumnType } from '../field-column.ts';

/** Numeric takes 131,072 digits before and 16,383 after the point; what is near that is no quantity. */
const MAX_NUMERIC_DIGITS = 16_000;

/** True when a numeric column takes the number with all its digits. */
export function fitsNumeric(cell: Cell): boolean {
  if (cell === null || typeof cell === 'string') return false;
  return typeof cell === 'number' || cell.digits.length <= MAX_NUMERIC_DIGITS;
}

/** A cell as text, for a text column or, being a canonical decimal, for a numeric one. */
export function encodePostgresCell(cell: Cell): string | null {
  return cell === null || typeof cell === 'string' ? cell : decimalText(cell);
}

/** The cell in a column. */
export function decodePostgresCell(value: unknown, type: ColumnType): Cell {
  if (typeof value !== 'string') return null;
  return type === 'number' ? (parseNumber(value) ?? value) : value;
}

/** What PostgreSQL writes for a time, see {@link timeText}. */
export function decodePostgresTime(value: unknown): string | null {
  return typeof value === 'string' ? (canonicalTime(value) ?? value) : null;
}

/** SELECT expression for a time in UTC, whatever the session's settings are. */
export const timeText = (expression: string): string =>
  `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
