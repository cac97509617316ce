import { ExactNumber } from '../mirror/types.ts';

/** True for a JSON object, as parseExactJson makes them. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);

/**
 * The thing itself from an answer that holds it bare or wrapped in one property, whatever that is called (the API does
 * not say). `json` itself when it is the thing, and when none or several of its properties are.
 */
export function unwrap(json: unknown, isThing: (value: unknown) => boolean): unknown {
  if (isThing(json) || !isJsonObject(json)) return json;
  const things = Object.values(json).filter(isThing);
  return things.length === 1 ? things[0] : json;
}
