import { keepDigits, parseNumber } from '../mirror/json.ts';
import type { Json } from '../mirror/types.ts';

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
