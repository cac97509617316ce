import { createHmac, scryptSync } from 'node:crypto';
import { inspect } from 'node:util';
import { count } from '../base/format.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { decimalText } from '../mirror/json.ts';
import { ExactNumber, type Json, type Submission } from '../mirror/types.ts';
import { isJsonObject } from './exact-json.ts';

/** One item of a list in its place, whether or not it can be stored (L6). */
export interface SubmissionItem {
  /** The submission's ID, or a name that {@link NamelessKey} gives. */
  readonly key: string;
  /** Null if it has no usable ID. With a defect, all usable parts are kept. */
  readonly submission: Submission | null;
  /** Of one without a usable ID: its status, where it shows one; the source counts it with that. */
  readonly status?: string;
  /** The defects, as fixed sentences that contain no value. */
  readonly defects: readonly string[];
}

/** Longer IDs fit no primary key (PostgreSQL: a third of a page). */
const MAX_ID_LENGTH = 500;
/** Deeper values would overflow the stack of recursive code. */
const MAX_DEPTH = 200;
/** Most values within one answer: a large table in a form has some thousands. As many of an item go into its name. */
const MAX_PARTS = 100_000;
/** Most answers of one submission: several pages of submissions are in memory at once. */
const MAX_ANSWERS = 5_000;
const TOO_DEEP = '[nested too deeply]';
const TOO_LARGE = '[too large]';

/**
 * An item of the submissions list, which was asked for `formId` (empty: for every form). Never throws. Every field is looked at
 * by itself, so that each defect gets a name; what else an item holds is ignored.
 */
export function submissionItem(
  json: unknown,
  formId: string,
  nameless: NamelessKey,
): SubmissionItem {
  if (!isJsonObject(json)) return withoutId(nameless(json), 'the item is not an object');
  const id = readId(json['id']);
  const status = readStatus(json['status']);
  if (id.value === '') return withoutId(nameless(json), id.defect, status.value);
  const createdAt = readTime(json['createdAt']);
  const data = readData(json['data']);
  const isWhole = status.defect === '' && createdAt.defect === '' && data.defect === '';
  return {
    key: id.value,
    submission: {
      id: id.value,
      formId: readText(json['formId']) ?? formId,
      status: status.value,
      createdAt: createdAt.value,
      data: data.value,
    },
    defects: isWhole
      ? []
      : [status.defect, createdAt.defect, data.defect].filter((text) => text !== ''),
  };
}

/**
 * The item in a response about the submission `id`, bare or wrapped in one property of any name (the API does not
 * document it): the one object that has this ID. Undefined if there is none.
 */
export function singleSubmission(json: unknown, id: string): SubmissionItem | undefined {
  if (!isJsonObject(json)) return undefined;
  const found = [json, ...Object.values(json)].find(
    (value) =>
      isJsonObject(value) && Object.hasOwn(value, 'id') && readId(value['id']).value === id,
  );
  return found === undefined ? undefined : submissionItem(found, '', () => '');
}

/** A value and its defect; the defect is empty if there is none. */
interface Checked<T> {
  value: T;
  defect: string;
}

function readId(id: unknown): Checked<string> {
  if (id === undefined || id === null || id === '') return { value: '', defect: 'id is missing' };
  if (typeof id === 'number' || id instanceof ExactNumber) {
    return { value: decimalText(id), defect: '' };
  }
  if (typeof id !== 'string') return { value: '', defect: 'id is not a text' };
  const usable = id.length <= MAX_ID_LENGTH && id.isWellFormed() && !hasControl(id);
  return usable && id.trim() !== ''
    ? { value: id, defect: '' }
    : { value: '', defect: 'id is not one that can be stored' };
}

/** Characters of Unicode's class Cc. Compared one by one: a regular expression takes several times longer. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || (code >= 127 && code < 160)) return true;
  }
  return false;
}

/** A text; a number is taken for its digits. Anything else counts as absent. */
function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof ExactNumber ? decimalText(value) : undefined;
}

function readStatus(status: unknown): Checked<string> {
  if (status === undefined || status === null || status === '') {
    return { value: '', defect: 'status is missing' };
  }
  if (typeof status !== 'string') return { value: '', defect: 'status is not a text' };
  return { value: status, defect: '' };
}

function readTime(createdAt: unknown): Checked<string | null> {
  if (createdAt === undefined || createdAt === null || createdAt === '') {
    return { value: null, defect: 'createdAt is missing' };
  }
  const value = typeof createdAt === 'string' ? canonicalTime(createdAt) : null;
  return { value, defect: value === null ? 'createdAt is not a date' : '' };
}

function readData(data: unknown): Checked<Submission['data']> {
  if (data === undefined || data === null) return { value: NO_ANSWERS, defect: 'data is missing' };
  if (!isJsonObject(data)) return { value: NO_ANSWERS, defect: 'data is not an object' };
  const answers = new Map<string, Json>();
  let defects: Set<string> | undefined;
  for (const id of Object.keys(data)) {
    const answer = data[id] as Json;
    const excess = answers.size < MAX_ANSWERS ? excessOf(answer) : EXCESS.many;
    if (excess !== undefined) (defects ??= new Set()).add(excess.defect);
    if (excess === EXCESS.many) break;
    answers.set(id, excess?.shown ?? answer);
  }
  return { value: answers, defect: defects === undefined ? '' : [...defects].join('; ') };
}

const NO_ANSWERS: Submission['data'] = new Map();

const EXCESS = {
  many: { shown: '', defect: `has more than ${count(MAX_ANSWERS)} answers; the first are stored` },
  deep: { shown: TOO_DEEP, defect: 'an answer is nested too deeply' },
  large: { shown: TOO_LARGE, defect: `an answer holds more than ${count(MAX_PARTS)} values` },
};

/**
 * Why a value is not stored unchanged. Works level by level, because recursion would overflow the stack on such
 * values.
 */
function excessOf(value: unknown): (typeof EXCESS)['deep'] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  let level: unknown[] = [value];
  let parts = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return EXCESS.deep;
    const below: unknown[] = [];
    for (const part of level) {
      if (typeof part !== 'object' || part === null || part instanceof ExactNumber) continue;
      const inside: unknown[] = Array.isArray(part) ? part : Object.values(part);
      parts += inside.length;
      if (parts > MAX_PARTS) return EXCESS.large;
      for (const each of inside) below.push(each);
    }
    level = below;
  }
  return undefined;
}

const withoutId = (key: string, defect: string, status = ''): SubmissionItem => ({
  key,
  submission: null,
  defects: [defect],
  ...(status !== '' && { status }),
});

/** The name of an item without an ID. The same item has the same name in every run and process. */
export type NamelessKey = (item: unknown) => string;

/**
 * Names for items without an ID, which are listed under them. A name is computed from the whole item, because
 * nothing else distinguishes it, and from `secret`: without it, a name does not reveal the answers of an item, not
 * even by guessing (L11). The secret is the key of the API; its owner may read the answers themselves.
 */
export function namelessKeys(secret: string): NamelessKey {
  let key: Buffer | undefined;
  return (item) => {
    // Slow on purpose, so that the secret cannot be guessed from a name. Computed only if there is such an item.
    key ??= scryptSync(secret, 'forms-mirror: items without an ID', 32);
    const whole = { depth: MAX_DEPTH, maxArrayLength: MAX_PARTS, maxStringLength: null };
    const text = inspect(item, { ...whole, compact: false });
    return `no-id:k${createHmac('sha256', key).update(text).digest('hex').slice(0, 31)}`;
  };
}
