import { safeText } from '../base/errors.ts';

const MAX_FIELDS = 50;
const MAX_MESSAGE = 200;
const WITHHELD = 'refused (the API repeats the value in its message, so it is not shown)';
const NO_MESSAGE = 'refused';

/**
 * The messages of a refusal by field, from `fields` of its body; the entries' shape is not documented, so every usual
 * one is read: an object of texts, of lists or of objects; a list of texts or of objects. A message that repeats one of
 * `secrets` (answers sent, search text, the key), or a good part of it, is withheld (L11, L15). Empty when there are none.
 */
export function refusalFields(
  body: string,
  secrets: readonly string[],
): ReadonlyMap<string, string> {
  const fields = fieldsOf(body);
  const entries: [string, unknown][] = Array.isArray(fields)
    ? fields.map((entry: unknown, index) => [nameOf(entry) ?? `#${index + 1}`, entry])
    : Object.entries(isObject(fields) ? fields : {});
  const shown = (text: string): string => (repeats(text, secrets) ? WITHHELD : text);
  return new Map(
    entries.slice(0, MAX_FIELDS).map(([name, entry]) => {
      const message = safeText(messageOf(entry) ?? NO_MESSAGE, MAX_MESSAGE);
      return [repeats(name, secrets) ? '(name withheld)' : safeText(name, 100), shown(message)];
    }),
  );
}

function fieldsOf(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) && Object.hasOwn(parsed, 'fields') ? parsed['fields'] : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (Array.isArray(entry)) {
    const texts = entry.map(messageOf).filter((text) => text !== undefined);
    return texts.length > 0 ? texts.join('; ') : undefined;
  }
  return firstText(entry, ['message', 'error', 'msg', 'reason', 'detail', 'description', 'code']);
}

const nameOf = (entry: unknown): string | undefined =>
  firstText(entry, ['field', 'fieldId', 'id', 'key', 'name', 'path', 'property']);

function firstText(entry: unknown, keys: readonly string[]): string | undefined {
  if (!isObject(entry)) return undefined;
  for (const key of keys) {
    const value = Object.hasOwn(entry, key) ? entry[key] : undefined;
    const text = Array.isArray(value) ? value.join('.') : value;
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Messages quote long values in part; so many equal characters in a row are no accident. */
const TELLING_LENGTH = 8;

/** True when `text` holds a secret as a word of its own, or any piece of one long enough to tell something. */
function repeats(text: string, secrets: readonly string[]): boolean {
  const hay = text.toLowerCase();
  const words = new Set(hay.split(/[^\p{L}\p{N}]+/u));
  return secrets.some((secret) => {
    const needle = secret.trim().toLowerCase();
    if (needle === '') return false;
    if (needle.length < TELLING_LENGTH) return words.has(needle) || isPhraseIn(needle, hay);
    for (let at = 0; at + TELLING_LENGTH <= hay.length; at++) {
      if (needle.includes(hay.slice(at, at + TELLING_LENGTH))) return true;
    }
    return false;
  });
}

/** A short text with spaces or signs in it is no single word; three characters and more are looked for as they are. */
const isPhraseIn = (needle: string, hay: string): boolean =>
  needle.length > 2 && hay.includes(needle);
