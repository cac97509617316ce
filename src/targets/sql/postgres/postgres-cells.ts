import { canonicalTime } from '../../../mirror/canonical-time.ts';
import { compactJson, jsonDepth } from '../../../mirror/json-text.ts';
import { parseNumber } from '../../../mirror/numbers.ts';
import { type Cell, JsonText } from '../../../mirror/types.ts';
import type { AnswerLimits } from '../answer-parts.ts';
import type { AnswerType } from '../field-column.ts';

/** Numeric takes 131,072 digits before and 16,383 after the point; what is near that is no quantity. */
const MAX_NUMERIC_DIGITS = 16_000;

/** Deeper ones come near the server's stack (`max_stack_depth`), and larger ones near what a jsonb takes. */
const MAX_JSON_DEPTH = 500;
const MAX_JSON_CHARACTERS = 50_000_000;

/** Half a character and U+0000, which jsonb refuses and a text can hold: as JSON writes them, with an even number of `\` before. */
const REFUSED_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/;

/** See {@link AnswerLimits}. jsonb keeps numbers with all their digits. */
export const POSTGRES_LIMITS: AnswerLimits = {
  fitsNumberColumn: (number) =>
    typeof number === 'number' || number.digits.length <= MAX_NUMERIC_DIGITS,
  fitsJsonColumn: (json) =>
    json.length <= MAX_JSON_CHARACTERS &&
    !REFUSED_ESCAPE.test(json) &&
    jsonDepth(json) <= MAX_JSON_DEPTH,
};

/** The cell in a column. */
export function decodePostgresCell(value: unknown, type: AnswerType): Cell {
  if (typeof value !== 'string') return null;
  if (type === 'json') return new JsonText(compactJson(value) ?? value);
  return type === 'number' ? (parseNumber(value) ?? value) : value;
}

/** What PostgreSQL writes for a time, see {@link timeText}. */
export function decodePostgresTime(value: unknown): string | null {
  return typeof value === 'string' ? (canonicalTime(value) ?? value) : null;
}

/** SELECT expression for a time in UTC, whatever the session's settings are; what is no date, by its name: `infinity`. */
export const timeText = (expression: string): string =>
  `coalesce(to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (${expression})::text)`;
