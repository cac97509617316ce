import { randomUUID } from 'node:crypto';
import { parseNumber } from '../mirror/json.ts';
import { ExactNumber, type Json } from '../mirror/types.ts';

/** Up to this length every number without an exponent fits into a double (IEEE 754, DBL_DIG). */
const HELD_LENGTH = 15;

/** A value that may be a longer number, or has an exponent; inside of a text something that looks like one, which costs time only. */
const MAY_BE_ROUNDED = /[:,[]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;

const NUMBER_LITERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * JSON.parse of an object or a list that rounds no number in it (L10): what a double does not hold becomes an ExactNumber, or its
 * source text when its digits would fill the memory. Own keys such as `__proto__` stay own keys. Throws SyntaxError as JSON.parse does.
 * However deep a value is nested, nothing else of the text is read otherwise (L6).
 */
export function parseExactJson(text: string): Json {
  // Looking at each token is several times slower, and hardly any page needs it.
  if (!MAY_BE_ROUNDED.test(text)) return JSON.parse(text) as Json;
  // Numbers travel through JSON.parse as texts. A reviver would be simpler, but it is recursive, and JSON.parse is not.
  // No answer can guess the mark, so no text of a page is taken for a number.
  const mark = `number ${randomUUID()} `;
  return unmarked(JSON.parse(marked(text, mark)), mark) as Json;
}

/** `text` with each number that a double does not hold as a text that begins with `mark`. */
function marked(text: string, mark: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (isOfNumber(code)) {
      let end = at + 1;
      while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
      const token = text.slice(at, end);
      if (!isHeld(token)) {
        parts.push(text.slice(copied, at), `"${mark}${token}"`);
        copied = end;
      }
      at = end;
    } else {
      at++;
    }
  }
  parts.push(text.slice(copied));
  return parts.join('');
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Without a regular expression, whose stack overflows on very long strings. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

/** Whether a character occurs in numbers: `+-.0123456789Ee`. Some also occur in `false` and `true`. */
const isOfNumber = (code: number): boolean =>
  (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || (code | 32) === 101;

/** Whether JSON.parse gets the token unchanged: a double holds it, or it is a mistake. */
function isHeld(token: string): boolean {
  if (token.length <= HELD_LENGTH && !/e/i.test(token)) return true;
  return !NUMBER_LITERAL.test(token) || typeof parseNumber(token) === 'number';
}

/** `parsed` with the numbers in their places again. Level by level: recursion would overflow the stack on deep values. */
function unmarked(parsed: unknown, mark: string): unknown {
  const root = { value: parsed };
  const left: object[] = [root];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    for (const [key, value] of Object.entries(part)) {
      // A number for a name is a mistake, which the quotes hid.
      if (key.startsWith(mark)) throw new SyntaxError('a name is not a text');
      if (typeof value === 'object' && value !== null) left.push(value);
      if (typeof value !== 'string' || !value.startsWith(mark)) continue;
      const digits = value.slice(mark.length);
      const number = parseNumber(digits) ?? digits;
      // Not an assignment, which would take __proto__ for something else.
      Object.defineProperty(part, key, { value: number });
    }
  }
  return root.value;
}

/** True for a JSON object, as {@link parseExactJson} makes them. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);
