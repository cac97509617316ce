import { ExactNumber, type Json } from '../../mirror/types.ts';

/** JSON to be sent, with Maps for objects whose keys are field IDs. Properties that are undefined are left out. */
export type Wire =
  | Json
  | undefined
  | ReadonlyMap<string, Json>
  | readonly Wire[]
  | { readonly [key: string]: Wire };

/** JSON text; exact numbers digit by digit, `__proto__` as a key like any other. */
export function encodeJson(value: Wire): string {
  return JSON.stringify(value, encodeSpecial);
}

function encodeSpecial(_key: string, value: unknown): unknown {
  return value instanceof Map ? objectOf(value) : value;
}

function objectOf(map: ReadonlyMap<string, unknown>): object {
  // Without a prototype, `__proto__` is an ordinary property.
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of map) object[key] = value;
  return object;
}

/** The value of a JSON text, every number as it was written. Throws SyntaxError. */
export function decodeJson(text: string): Json {
  return JSON.parse(text, reviveExactly as (key: string, value: unknown) => unknown) as Json;
}

function reviveExactly(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  return String(value) === context.source ? value : new ExactNumber(context.source);
}

/** True for a JSON object. */
export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/** Every text and number in an answer, for the full-text search. */
export function textsOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (value instanceof ExactNumber) return [value.digits];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsOf);
  return [];
}
