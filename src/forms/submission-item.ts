import { count } from '../base/format.ts';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { decimalText } from '../mirror/numbers.ts';
import { ExactNumber, type Json, type Submission } from '../mirror/types.ts';
import { isJsonObject } from './exact-json.ts';
import type { NamelessKey } from './nameless-keys.ts';
import { submissionSchema } from './schemas.ts';

/** One item of a list in its place, whether or not it can be stored (L6). */
export interface SubmissionItem {
  /** The submission's ID, or a name that {@link NamelessKey} gives. */
  readonly key: string;
  /** Null when it has no usable ID; with a defect, whatever is usable is kept. */
  readonly submission: Submission | null;
  /** Of one without a usable ID: its status, where it shows one; the source counts it with that. */
  readonly status?: string;
  /** What is wrong with it, as stable sentences that hold no value. */
  readonly defects: readonly string[];
}

/** Longer IDs fit no primary key (PostgreSQL: a third of a page). */
const MAX_ID_LENGTH = 500;
/** Deeper values would overflow the stack of recursive code. */
const MAX_DEPTH = 200;
/** Most values within one answer: a large table in a form has some thousands. */
const MAX_PARTS = 100_000;
/** Most answers of one submission. */
const MAX_ANSWERS = 10_000;
const TOO_DEEP = '[nested too deeply]';
const TOO_LARGE = '[too large]';

/** An item of the submissions list, which was asked for `formId` (empty: for every form). Never throws. */
export function submissionItem(
  json: unknown,
  formId: string,
  nameless: NamelessKey,
): SubmissionItem {
  const wire = submissionSchema.safeParse(json);
  if (!wire.success || !isJsonObject(json)) {
    return withoutId(nameless(json), 'the item is not an object');
  }
  const id = readId(wire.data.id);
  const status = readStatus(wire.data.status);
  if (id.value === '') return withoutId(nameless(json), id.defect, status.value);
  const createdAt = readTime(wire.data.createdAt);
  const data = readData(wire.data.data);
  const defects = [status.defect, createdAt.defect, data.defect].filter((text) => text !== '');
  return {
    key: id.value,
    submission: {
      id: id.value,
      formId: wire.data.formId ?? formId,
      status: status.value,
      createdAt: createdAt.value,
      data: data.value,
    },
    defects,
  };
}

/**
 * The item of an answer to the submission `id`, bare or wrapped in one property, whatever that is called (the API does
 * not say): it is the one object that carries the ID asked for. Undefined when there is none.
 */
export function singleSubmission(json: unknown, id: string): SubmissionItem | undefined {
  if (!isJsonObject(json)) return undefined;
  const found = [json, ...Object.values(json)].find(
    (value) =>
      isJsonObject(value) && Object.hasOwn(value, 'id') && readId(value['id']).value === id,
  );
  return found === undefined ? undefined : submissionItem(found, '', () => '');
}

/** A value, and what is wrong with it; an empty defect when nothing is. */
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
  const usable = id.length <= MAX_ID_LENGTH && id.isWellFormed() && !/\p{Cc}/u.test(id);
  return usable && id.trim() !== ''
    ? { value: id, defect: '' }
    : { value: '', defect: 'id is not one that can be stored' };
}

function readStatus(status: unknown): Checked<string> {
  if (status === undefined || status === null || status === '') {
    return { value: '', defect: 'status is missing' };
  }
  if (typeof status !== 'string') return { value: '', defect: 'status is not a text' };
  return { value: status, defect: '' };
}

function readTime(createdAt: unknown): Checked<string> {
  if (createdAt === undefined || createdAt === null || createdAt === '') {
    return { value: '', defect: 'createdAt is missing' };
  }
  const isTime = typeof createdAt === 'string' && canonicalTime(createdAt) !== null;
  return isTime
    ? { value: createdAt, defect: '' }
    : { value: '', defect: 'createdAt is not a date' };
}

function readData(data: unknown): Checked<ReadonlyMap<string, Json>> {
  if (data === undefined || data === null) return { value: new Map(), defect: 'data is missing' };
  if (!isJsonObject(data)) return { value: new Map(), defect: 'data is not an object' };
  const fields = Object.keys(data);
  const answers = new Map<string, Json>();
  const defects = new Set<string>();
  if (fields.length > MAX_ANSWERS) {
    defects.add(`has more than ${count(MAX_ANSWERS)} answers; the first of them are stored`);
  }
  for (const field of fields.slice(0, MAX_ANSWERS)) {
    const answer = data[field] as Json;
    const excess = excessOf(answer);
    if (excess !== undefined) defects.add(excess.defect);
    answers.set(field, excess?.shown ?? answer);
  }
  return { value: answers, defect: [...defects].join('; ') };
}

const EXCESS = {
  deep: { shown: TOO_DEEP, defect: 'an answer is nested too deeply' },
  large: { shown: TOO_LARGE, defect: `an answer holds more than ${count(MAX_PARTS)} values` },
};

/** Why a value is not stored as it is. Level by level: recursion would overflow the stack on such values. */
function excessOf(value: unknown): (typeof EXCESS)['deep'] | undefined {
  let level = [value];
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
