import { invalid } from './api-error.ts';

/** A value from JSON or from the analyzer: its type is unknown until it is checked. */
export type Raw = Readonly<Record<string, unknown>>;

/** True for an object that is no list. */
export const isRaw = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a key; undefined if there is none. Another kind of value is a 400. */
export function objectAt(raw: Raw, key: string): Raw | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  if (!isRaw(value)) throw invalid(`Invalid value for ${key}: an object is needed`);
  return value;
}

/** The objects in the list at a key; none if it is absent. */
export function objectsAt(raw: Raw, key: string): readonly Raw[] {
  const value = raw[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isRaw)) {
    throw invalid(`Invalid value for ${key}: a list of objects is needed`);
  }
  return value;
}

/** The texts in the list at a key; none if it is absent. */
export function textsAt(raw: Raw, key: string): readonly string[] {
  const value = raw[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(`Invalid value for ${key}: a list of texts is needed`);
  }
  return value;
}

/** A map of texts, without null values. */
export const textsIn = (raw: Raw): Record<string, string> =>
  Object.fromEntries(
    Object.entries(raw).flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, value]] : [],
    ),
  );

/** The text at a key; undefined if it is absent. Numbers count as text: Google's JSON has both for int64. */
export function textAt(raw: Raw, key: string): string | undefined {
  const value = raw[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  throw invalid(`Invalid value for ${key}: a text is needed`);
}

/** True if the value at a key is true, or the text `true`. */
export const flagAt = (raw: Raw, key: string): boolean => raw[key] === true || raw[key] === 'true';

/** The whole number at a key. */
export function numberAt(raw: Raw, key: string): number | undefined {
  const text = textAt(raw, key);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) throw invalid(`Invalid value for ${key}: ${text}`);
  return number;
}
