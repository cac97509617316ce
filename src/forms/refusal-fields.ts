import { safeText } from '../base/errors.ts';

const MAX_FIELDS = 50;
const MAX_MESSAGE = 200;
const REPEATED = 'refused (the API repeats the value in its message, so it is not shown)';
const OFF_TOPIC = 'refused (not shown, as it is not about this request)';
const NO_MESSAGE = 'refused';

/** What may be shown of a refusal. */
export interface RefusalLimits {
  /** What no message may repeat, not even in part: answers sent, search text, the key. */
  secrets: readonly string[];
  /**
   * Names of what we sent; messages about anything else are hidden, as they may tell what the API holds. Null when
   * the message may be about any field: of a submit, which holds nothing yet.
   */
  subjects: readonly string[] | null;
}

/**
 * The messages of a refusal by field, from `fields` of its body; the entries' shape is not documented, so every usual
 * one is read: an object of texts, of lists or of objects; a list of texts or of objects. Only what `limits` allow is
 * shown (L11, L15). Empty when there are none.
 */
export function refusalFields(body: string, limits: RefusalLimits): ReadonlyMap<string, string> {
  const fields = fieldsOf(body);
  const entries: [string, unknown][] = Array.isArray(fields)
    ? fields.map((entry: unknown, index) => [nameOf(entry) ?? `#${index + 1}`, entry])
    : Object.entries(isObject(fields) ? fields : {});
  return new Map(
    entries.slice(0, MAX_FIELDS).map(([name, entry]) => {
      const hidden = repeats(name, limits.secrets);
      return [hidden ? '(name hidden)' : safeText(name, 100), shown(name, entry, limits)];
    }),
  );
}

function shown(name: string, entry: unknown, { secrets, subjects }: RefusalLimits): string {
  const message = messageOf(entry);
  if (message === undefined) return NO_MESSAGE;
  if (repeats(message, secrets)) return REPEATED;
  const isAbout = (subject: string): boolean =>
    name === subject || (name.startsWith('#') && message.startsWith(subject));
  if (subjects !== null && !subjects.some(isAbout)) return OFF_TOPIC;
  return safeText(message, MAX_MESSAGE);
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

/** Messages quote long values in part; so many equal characters in a row are not an accident. */
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

/** A short text with spaces or signs in it is not a single word; three characters and more are searched for unchanged. */
const isPhraseIn = (needle: string, hay: string): boolean =>
  needle.length > 2 && hay.includes(needle);
