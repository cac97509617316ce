import { decimalText, parseNumber } from './numbers.ts';
import { ExactNumber, type Json } from './types.ts';

/** A text that equal JSON values share, whatever the order of their keys is. Undefined for what is none. */
export function canonicalJson(text: string): string | undefined {
  const value = parseJson(text);
  return value === undefined ? undefined : canonical(value);
}

/** How deep arrays and objects are nested in a JSON text: 1 for `[]`. */
export function jsonDepth(text: string): number {
  let [depth, deepest, isInText] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInText = !isInText;
    else if (isInText) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

/** A JSON value, its numbers with all their digits. Undefined for a text that is not JSON, or is nested too deeply. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text, revive) as Json;
  } catch {
    return undefined;
  }
}

function revive(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return parseNumber(context.source) ?? value;
}

function canonical(value: Json): string {
  if (typeof value === 'number' || value instanceof ExactNumber) return decimalText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(',')}]`;
  const parts = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`);
  return `{${parts.join(',')}}`;
}
