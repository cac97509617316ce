import { cellText } from '../../../mirror/cell.ts';
import { canonicalTime } from '../../../mirror/canonical-time.ts';
import { jsonDepth } from '../../../mirror/json-text.ts';
import { parseNumber } from '../../../mirror/numbers.ts';
import { type Cell, ExactNumber, JsonText } from '../../../mirror/types.ts';
import type { AnswerLimits } from '../answer-parts.ts';
import type { AnswerType } from '../field-column.ts';

/** How deep MariaDB's functions for JSON go (MySQL's: 100). */
const MAX_JSON_DEPTH = 30;
const MAX_JSON_CHARACTERS = 50_000_000;

/** Half a character, which the functions for JSON may refuse: as JSON writes it, with an even number of `\` before. */
const REFUSED_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/;

/** A number that no double comes near: to MySQL a text with one is no JSON. */
const BEYOND_DOUBLE = /\d{309}/;

/**
 * See {@link AnswerLimits}. A number column is a DOUBLE: every number that JavaScript has is one, and shows as people write
 * it, where a DECIMAL that is wide enough would show thirty zeros. JSON is a text that the server has found to be JSON, as
 * MySQL's own type rounds numbers.
 */
export const MYSQL_LIMITS: AnswerLimits = {
  fitsNumberColumn: (number) => typeof number === 'number',
  fitsJsonColumn: (json) =>
    json.length <= MAX_JSON_CHARACTERS &&
    !REFUSED_ESCAPE.test(json) &&
    !BEYOND_DOUBLE.test(json) &&
    jsonDepth(json) <= MAX_JSON_DEPTH,
};

/** What a column holds of an answer: a number in a column of numbers, else a text. */
export function encodeMysqlCell(cell: Cell, type: AnswerType): string | number | null {
  if (cell === null) return null;
  if (type === 'number' && typeof cell === 'number') return cell;
  return cellText(cell);
}

/** A cell for the overflow column: what MySQL's JSON functions would round is text there. */
export const inMysqlJson = (cell: Cell): Cell => (cell instanceof ExactNumber ? cell.digits : cell);

/** The cell in a column. */
export function decodeMysqlCell(value: unknown, type: AnswerType): Cell {
  if (typeof value !== 'string') return null;
  if (type === 'json') return new JsonText(value);
  if (type !== 'number') return value;
  const number = Number(value);
  return Number.isFinite(number) && value !== '' ? number : (parseNumber(value) ?? value);
}

/** A canonical time as a column of times takes it and shows it: `2026-03-01 12:00:00.123000`, in UTC. */
export function mysqlTime(time: string): string {
  const [date = '', clock = ''] = time.replace(/Z$/, '').split('T');
  const [seconds = '', fraction = ''] = clock.split('.');
  return `${date} ${seconds}.${fraction.padEnd(6, '0')}`;
}

/** See {@link SqlDialect.timeText}. */
export const timeText = (expression: string): string =>
  `DATE_FORMAT(${expression}, '%Y-%m-%dT%H:%i:%s.%fZ')`;

/** What {@link timeText} gives, as canonical time. */
export function decodeMysqlTime(value: unknown): string | null {
  return typeof value === 'string' ? (canonicalTime(value) ?? value) : null;
}
