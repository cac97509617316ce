import { canonicalJson, compactJson, jsonDepth } from '../../../mirror/json-text.ts';
import { cellText, isBlank } from '../../../mirror/cell.ts';
import { decimalText, parseNumber } from '../../../mirror/numbers.ts';
import { type Cell, type ExactNumber, JsonText } from '../../../mirror/types.ts';
import { type AnswerLimits, textBeside } from '../answer-parts.ts';
import { MAX_ID_BYTES, MAX_REASON_BYTES, type RowLimits } from '../dialect.ts';
import type { AnswerPart, AnswerType, ColumnType } from '../field-column.ts';

/** Digits of a NUMERIC before and behind its point. */
const [WHOLE_DIGITS, FRACTION_DIGITS] = [29, 9];

/** BigQuery takes 500 levels; nobody's answer has so many. */
const MOST_LEVELS = 100;

/** What BigQuery's columns take. It may hold U+0000, but not every tool that reads from it does. */
export const LIMITS: AnswerLimits & RowLimits = {
  product: 'BigQuery',
  maxIdBytes: MAX_ID_BYTES,
  maxReasonBytes: MAX_REASON_BYTES,
  takesNul: false,
  fitsNumberColumn(number) {
    const [whole = '', fraction = ''] = decimalText(number).replace('-', '').split('.');
    return whole.length <= WHOLE_DIGITS && fraction.length <= FRACTION_DIGITS;
  },
  fitsJsonColumn(json) {
    if (jsonDepth(json) > MOST_LEVELS) return false;
    try {
      const value: unknown = JSON.parse(json);
      const text = JSON.stringify(value);
      // Numbers that a double rounds would come back otherwise; half a character and U+0000 are refused by some readers.
      return text === compactJson(json) && !/\\u(?:0000|d[89a-f])/i.test(text);
    } catch {
      return false;
    }
  },
};

/** Types of the columns of answers. */
export const ANSWER_TYPES = { text: 'STRING', number: 'NUMERIC', json: 'JSON' } as const;

/** What a part of a field holds of an answer, as a text of its type; null for nothing. */
export function partText({ field, kind, type }: AnswerPart, cell: Cell): string | null {
  if (cell === null) return null;
  if (kind === 'text') return textBeside(field.type, cell, LIMITS);
  if (type === 'text') return cellText(cell);
  if (type === 'json')
    return cell instanceof JsonText && LIMITS.fitsJsonColumn(cell.text) ? cell.text : null;
  return typeof cell === 'string' || cell instanceof JsonText ? null : nearestNumeric(cell);
}

/** The NUMERIC that is nearest to a number, as its digits. */
export function nearestNumeric(number: number | ExactNumber): string {
  const digits = decimalText(number);
  if (LIMITS.fitsNumberColumn(number)) return digits;
  const sign = digits.startsWith('-') ? '-' : '';
  const [whole = '0', fraction = ''] = digits.replace('-', '').split('.');
  const largest = `${sign}${'9'.repeat(WHOLE_DIGITS)}`;
  if (whole.length > WHOLE_DIGITS) return largest;
  // One digit more than there is room for, to round by.
  const scaled = BigInt(whole + fraction.padEnd(FRACTION_DIGITS + 1, '0').slice(0, 10));
  const rounded = String((scaled + 5n) / 10n).padStart(FRACTION_DIGITS + 1, '0');
  const at = rounded.length - FRACTION_DIGITS;
  if (at > WHOLE_DIGITS) return largest;
  const near = parseNumber(`${rounded.slice(0, at)}.${rounded.slice(at)}`);
  const text = near === null ? '0' : decimalText(near);
  return text === '0' ? text : sign + text;
}

/** A value of a column as BigQuery gives it. */
export function decodeCell(value: unknown, type: AnswerType): Cell {
  if (typeof value !== 'string') return null;
  if (type === 'number') return parseNumber(value);
  if (type === 'text') return value;
  const text = shortestNumbers(value);
  return new JsonText(compactJson(text) ?? text);
}

/** A double of JSON with the fewest digits that tell it, as it was given: BigQuery writes 0.55587577846274 as 0.55587577846273999. */
const shortestNumbers = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs, (token) =>
    /^"|^-?\d+$/.test(token) ? token : String(Number(token)),
  );

/** What an answer is compared by: two have the same key where a field of this type holds them alike. Null: as no answer. */
export function cellKey(type: ColumnType, cell: Cell): string | null {
  if (cell === null || (isBlank(cell) && type !== 'text')) return null;
  if (type === 'text' || type === null || typeof cell === 'string') return `t${cellText(cell)}`;
  if (cell instanceof JsonText) {
    const isOwn = type === 'json' && LIMITS.fitsJsonColumn(cell.text);
    return isOwn ? `j${canonicalJson(cell.text) ?? cell.text}` : `t${cell.text}`;
  }
  return `${type === 'number' ? 'n' : 't'}${decimalText(cell)}`;
}

/** The answer as it is read back from a field of this type. */
export function storedCell(type: ColumnType, cell: Cell): Cell {
  if (cell === null || (isBlank(cell) && type !== 'text')) return null;
  if (type === 'text' || type === null) return cellText(cell);
  if (typeof cell === 'string') return cell;
  if (cell instanceof JsonText)
    return type === 'json' && LIMITS.fitsJsonColumn(cell.text) ? cell : cell.text;
  return type === 'number' ? cell : decimalText(cell);
}
