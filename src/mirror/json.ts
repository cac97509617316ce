import { ExactNumber, type Json } from './types.ts';

/**
 * The longest plain decimal to write out. Every double fits (5e-324 takes 326 characters). An exponent such as
 * 1e400000000 does not: it would fill the memory with zeros.
 */
const MAX_DIGITS = 1_000;

const NUMBER_LITERAL = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * A JSON number literal as a number if a double holds it, that is, if the shortest decimal that reads back as that double is the
 * literal itself (0.1 is held, 9007199254740993 is not). Otherwise an {@link ExactNumber} (L10). Null for a text that is not a
 * number literal, and for one whose plain decimal is longer than 1,000 characters: keep its text then.
 */
export function parseNumber(source: string): number | ExactNumber | null {
  const digits = plainDecimal(source);
  if (digits === null) return null;
  const value = Number(digits);
  return Number.isFinite(value) && decimalText(value) === digits ? value : new ExactNumber(digits);
}

/**
 * Canonical plain decimal of a finite number: no exponent, no superfluous zeros, `-` only before a non-zero value.
 * Equal numbers have equal texts, whether double or exact.
 */
export function decimalText(value: number | ExactNumber): string {
  if (typeof value !== 'number') return value.digits;
  const text = String(value);
  // Most numbers print plainly; only very large and very small ones carry an exponent. -0 prints as 0.
  return text.includes('e') ? (plainDecimal(text) ?? text) : text;
}

/** The canonical plain decimal of a literal; null if it is not a number or is too long. Work is bounded by the literal's length. */
function plainDecimal(source: string): string | null {
  const match = NUMBER_LITERAL.exec(source);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const mantissa = (whole + fraction).replace(/^0+/, '');
  if (mantissa === '') return '0';
  const significant = stripTrailingZeros(mantissa);
  // The place of the decimal point, counted from the first significant digit. Infinite for an absurd exponent.
  const point = mantissa.length - fraction.length + Number(exponent);
  const length = Math.max(significant.length, point, significant.length - point);
  return length > MAX_DIGITS ? null : sign + placePoint(significant, point);
}

function placePoint(digits: string, point: number): string {
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits.padEnd(point, '0');
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Without `/0+$/`, which takes quadratic time on long runs of zeros inside the text. */
function stripTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return digits.slice(0, end);
}

/** Deeper values would overflow the stack of recursive code. */
const MAX_DEPTH = 200;
/** In place of such a value. */
export const TOO_DEEP = '[nested too deeply]';

/** Works level by level, because recursion would overflow the stack on such values. */
export function isTooDeep(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    const below: unknown[] = [];
    for (const part of level) {
      if (typeof part !== 'object' || part === null || part instanceof ExactNumber) continue;
      for (const each of Array.isArray(part) ? part : Object.values(part))
        if (typeof each === 'object') below.push(each);
    }
    level = below;
  }
  return false;
}

/** A text that is the same for equal JSON values with their keys in any order. Undefined for a text that is not JSON. */
export function canonicalJson(text: string): string | undefined {
  const value = parseJson(text);
  return value === undefined ? undefined : canonical(value);
}

/** A JSON value, its numbers with all their digits. Undefined for a text that is not JSON, or is nested too deeply. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text, keepDigits) as Json;
  } catch {
    return undefined;
  }
}

/** Matches a value that may be a longer number, or that has an exponent. A match inside a text costs only time. */
const MAY_BE_ROUNDED = /[:,[]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** A text, or a number that a double may not hold. */
const TEXT_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d(?:[\d.]{15}|[\d.]*[eE])[\d.eE+-]*/g;

/**
 * JSON.parse of an object or a list that rounds no number in it (L10): a number that a double cannot hold becomes an ExactNumber,
 * or its source text if its digits would fill the memory. Own keys such as `__proto__` stay own keys. Throws SyntaxError as
 * JSON.parse does.
 */
export function parseExactJson(text: string): Json {
  // Checking each number is several times slower, and hardly any page needs it.
  if (!MAY_BE_ROUNDED.test(text)) return JSON.parse(text) as Json;
  try {
    return JSON.parse(text, keepDigits) as Json;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // A reviver is recursive, and JSON.parse is not. Beside such a deeply nested answer, a number that a double cannot hold becomes
    // a text with all its digits.
    const isHeld = (found: string): boolean =>
      found.startsWith('"') || typeof parseNumber(found) === 'number';
    const quoted = (found: string): string => (isHeld(found) ? found : `"${found}"`);
    return JSON.parse(text.replace(TEXT_OR_LONG_NUMBER, quoted)) as Json;
  }
}

/** For JSON.parse: keeps all digits of a number (L10). If its digits would fill the memory, it becomes the text of its literal. */
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return parseNumber(context.source) ?? context.source;
}

/** Whether a parsed value is an object, and neither a list nor an {@link ExactNumber}. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);

function canonical(value: Json): string {
  if (typeof value === 'number' || value instanceof ExactNumber) return decimalText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(',')}]`;
  const parts = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`);
  return `{${parts.join(',')}}`;
}
