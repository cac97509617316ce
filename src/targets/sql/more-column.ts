import { cellText } from '../../mirror/cell.ts';
import { decimalText, parseNumber } from '../../mirror/numbers.ts';
import { type Cell, ExactNumber } from '../../mirror/types.ts';

/** The answers in an overflow column, by column name. */
export type MoreAnswers = ReadonlyMap<string, Cell>;

/**
 * The overflow column: answers without a column of their own, as one JSON object by column name, in the given order. A
 * number is a JSON number with all its digits, and text a JSON string, as is JSON, whatever the other rows hold; no answer,
 * no property. Null when there is none.
 */
export function encodeMore(answers: MoreAnswers, order: readonly string[]): string | null {
  const properties: string[] = [];
  for (const column of order) {
    const cell = answers.get(column) ?? null;
    if (cell !== null) properties.push(`${JSON.stringify(column)}:${propertyText(cell)}`);
  }
  return properties.length === 0 ? null : `{${properties.join(',')}}`;
}

/** Reads it. Anything but a JSON object, as after an edit by hand, holds no answers. */
export function decodeMore(text: unknown): MoreAnswers {
  if (typeof text !== 'string') return new Map();
  try {
    const answers: unknown = JSON.parse(text, revive);
    return isRecord(answers) ? new Map(Object.entries(answers)) : new Map();
  } catch {
    return new Map();
  }
}

const propertyText = (cell: Exclude<Cell, null>): string =>
  typeof cell === 'number' || cell instanceof ExactNumber
    ? decimalText(cell)
    : JSON.stringify(cellText(cell));

const isRecord = (value: unknown): value is Record<string, Cell> =>
  typeof value === 'object' && value !== null;

function revive(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return parseNumber(context.source) ?? context.source;
}
