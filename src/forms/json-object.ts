import { ExactNumber } from '../mirror/types.ts';

/** True for a JSON object, as parseExactJson makes them. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);
