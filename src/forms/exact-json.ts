import { parseNumber } from '../mirror/numbers.ts';
import type { Json } from '../mirror/types.ts';

/** What JSON.parse passes to a reviver besides key and value; TypeScript's library does not know it yet. */
interface ReviverContext {
  source?: string;
}

/**
 * A number that a double might round: sixteen digits or more, or an exponent, where a value can begin. May match inside
 * a string, which costs time only; fifteen digits always fit (IEEE 754, DBL_DIG).
 */
const RISKY_NUMBER = /(?:^|[[:,])\s*-?(?:\d(?:\.?\d){15}|\d+(?:\.\d+)?[eE])/;

/** Strings, to step over them, and number literals. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * JSON.parse that rounds no number (L10): what a double does not hold becomes an ExactNumber, or its source text when
 * its digits would fill the memory. Own keys such as `__proto__` stay own keys. Throws SyntaxError as JSON.parse does.
 */
export function parseExactJson(text: string): Json {
  // The reviver is several times slower, and hardly any page needs it.
  if (!RISKY_NUMBER.test(text)) return JSON.parse(text) as Json;
  try {
    return JSON.parse(text, revive) as Json;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // JSON.parse is not recursive but reviving is: someone nested an answer absurdly deep. Numbers stay exact as text.
    return JSON.parse(text.replace(STRING_OR_NUMBER, quoteIfInexact)) as Json;
  }
}

function revive(_key: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return parseNumber(context.source) ?? context.source;
}

function quoteIfInexact(token: string): string {
  return token.startsWith('"') || typeof parseNumber(token) === 'number' ? token : `"${token}"`;
}
