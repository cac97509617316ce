import { randomUUID } from 'node:crypto';
import { parseNumber } from '../mirror/json.ts';
import { ExactNumber, type Json } from '../mirror/types.ts';

/** Up to this length every number without an exponent fits into a double. */
const HELD_LENGTH = 15;

const NUMBER_LITERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * How deep a text may be nested: far deeper than an answer that can be stored, and not so deep that taking it apart costs
 * more than its length suggests.
 */
export const MAX_TEXT_DEPTH = 100_000;

/** A text is nested deeper than {@link MAX_TEXT_DEPTH}. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';
}

/**
 * JSON.parse that rounds no number (L10): what a double does not hold becomes an ExactNumber, or its source text when
 * its digits would fill the memory. Own keys such as `__proto__` stay own keys. Throws SyntaxError as JSON.parse does,
 * and {@link TooDeepError} before anything is made of such a text.
 * However deep a value is nested, nothing else of the text is read otherwise (L6). `roundsAny`: what {@link mayBeRounded}
 * says of the text's bytes, for who has them.
 */
export function parseExactJson(text: string, roundsAny = mayBeRounded(Buffer.from(text))): Json {
  if (text.length > MAX_TEXT_DEPTH && opensMoreThan(text, MAX_TEXT_DEPTH)) assertDepth(text);
  // Looking at each token is several times slower, and hardly any page needs it.
  if (!roundsAny) return JSON.parse(text) as Json;
  // Numbers travel through JSON.parse as texts. A reviver would be simpler, but it is recursive, and JSON.parse is not.
  // No answer can guess the mark, so no text of a page is taken for a number.
  const mark = `number ${randomUUID()} `;
  return unmarked(JSON.parse(marked(text, mark)), mark) as Json;
}

/**
 * The shortest number that a double does not hold, 2e308, has five characters: with at most 15 digits and an exponent of
 * two, each fits (IEEE 754, DBL_DIG).
 */
const SHORTEST = 5;

/**
 * Whether a number that a double does not hold stands in a JSON text, or something inside of a string that looks like one,
 * which costs time only. A run of five characters has one at each fifth place: the others are looked at only beside
 * such a one. Of a text in UTF-8, whose bytes are read several times faster than its characters: those of numbers are the same.
 */
export function mayBeRounded(json: Uint8Array): boolean {
  const bytes = json.length;
  for (let at = SHORTEST - 1; at < bytes; at += SHORTEST) {
    const part = PARTS[json[at] ?? 0];
    // Of texts, mostly: before the letter of an exponent is a digit.
    if (part === NONE || (part === EXPONENT && PARTS[json[at - 1] ?? 0] !== DIGIT)) continue;
    let start = at;
    while (start > 0 && PARTS[json[start - 1] ?? 0] !== NONE) start--;
    let end = at + 1;
    while (end < bytes && PARTS[json[end] ?? 0] !== NONE) end++;
    const isLong = end - start > HELD_LENGTH || hasExponent(json, start, end);
    if (isLong && isValue(json, start) && !isHeld(asText(json, start, end))) return true;
    at = end;
  }
  return false;
}

const [NONE, DIGIT, EXPONENT] = [0, 1, 2] as const;

/** What each byte is to a number; signs and the point count as digits. */
const PARTS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if ('eE'.includes(character)) return EXPONENT;
  return '0123456789.-+'.includes(character) ? DIGIT : NONE;
});

const isOfNumber = (code: number): boolean => (PARTS[code] ?? NONE) !== NONE;

const asText = (json: Uint8Array, start: number, end: number): string =>
  Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('latin1');

function hasExponent(json: Uint8Array, start: number, end: number): boolean {
  if (end - start < SHORTEST) return false;
  for (let at = start; at < end; at++) if (PARTS[json[at] ?? 0] === EXPONENT) return true;
  return false;
}

/** Whether a value can begin here: at the start of the text, or after `[`, `:` or `,`, and blanks. */
function isValue(json: Uint8Array, start: number): boolean {
  let at = start - 1;
  while (at >= 0 && isBlank(json[at] ?? 0)) at--;
  const before = at < 0 ? COMMA : json[at];
  return before === COMMA || before === 58 || before === 91;
}

const COMMA = 44;
const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

/** Whether brackets and braces open more often than that, those within strings included. */
function opensMoreThan(text: string, times: number): boolean {
  let opened = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++opened > times) return true;
    }
  }
  return false;
}

const isOpening = (code: number): boolean => code === 91 || code === 123;
const isClosing = (code: number): boolean => code === 93 || code === 125;

function assertDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (isOpening(code)) depth++;
    else if (isClosing(code)) depth--;
    if (depth > MAX_TEXT_DEPTH) throw new TooDeepError('nested too deeply');
  }
}

/** `text` with each number that a double does not hold as a text that begins with `mark`. */
function marked(text: string, mark: string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length;) {
    if (text[at] === '"') {
      at = endOfString(text, at);
    } else if (isNumberStart(text, at)) {
      const end = endOfNumber(text, at);
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

/** By hand: a regular expression for strings runs out of its stack on very long ones. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at + 1;
}

const isNumberStart = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || code === 45;
};

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && isOfNumber(text.charCodeAt(at))) at++;
  return at;
}

/** Whether JSON.parse takes the token as it is: a double holds it, or it is no number and a mistake. */
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
