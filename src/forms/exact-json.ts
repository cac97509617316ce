import { keepDigits } from '../mirror/json.ts';
import { ExactNumber, type Json } from '../mirror/types.ts';

/** A value that may be a longer number, or has an exponent; inside of a text something that looks like one, which costs time only. */
const MAY_BE_ROUNDED = /[:,[]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/**
 * JSON.parse of an object or a list that rounds no number in it (L10): what a double does not hold becomes an ExactNumber, or its
 * source text when its digits would fill the memory. Own keys such as `__proto__` stay own keys. Throws SyntaxError as JSON.parse does, and RangeError
 * where such a number is beside an answer that is nested thousands deep.
 */
export function parseExactJson(text: string): Json {
  // Looking at each number is several times slower, and hardly any page needs it.
  return MAY_BE_ROUNDED.test(text)
    ? (JSON.parse(text, keepDigits) as Json)
    : (JSON.parse(text) as Json);
}

/** True for a JSON object, as {@link parseExactJson} makes them. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);
