import { createHmac } from 'node:crypto';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { decimalText, isJsonObject, isTooDeep, TOO_DEEP } from '../mirror/json.ts';
import { type Answers, ExactNumber, type SubmissionItem } from '../mirror/types.ts';

/** Longer IDs fit no primary key, and longer statuses no index (PostgreSQL: a third of a page). */
const MAX_LENGTH = 500;

/**
 * An item of a list of submissions, requested for `formId` (empty: for every form). Never throws. Every field is checked
 * separately, so that each defect gets a name; other properties of the item are ignored.
 */
export function submissionItem(
  json: unknown,
  formId: string,
  nameless: NamelessKey,
): SubmissionItem {
  if (!isJsonObject(json)) return withoutId(nameless(json), 'The item is not an object.');
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
 * The item in a response about the submission `id`, bare or wrapped in a property of any name (the API does not document which):
 * the one object with this ID. Undefined if there is none.
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
  if (id === undefined || id === null || id === '')
    return { value: '', defect: 'The ID is missing.' };
  if (typeof id === 'number' || id instanceof ExactNumber) {
    return { value: decimalText(id), defect: '' };
  }
  if (typeof id !== 'string') return { value: '', defect: 'The ID is not a text.' };
  return isStorable(id) && id.trim() !== ''
    ? { value: id, defect: '' }
    : { value: '', defect: 'The ID cannot be stored.' };
}

/** Whether every target can hold a text as an ID or a status. */
const isStorable = (text: string): boolean =>
  text.length <= MAX_LENGTH && text.isWellFormed() && !hasControl(text);

/** Characters of Unicode's class Cc. A loop, because a regular expression takes several times longer. */
function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 || (code >= 127 && code < 160)) return true;
  }
  return false;
}

/** A text; a number counts as its digits. Anything else counts as absent. */
function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof ExactNumber ? decimalText(value) : undefined;
}

function readStatus(status: unknown): Checked<string> {
  if (status === undefined || status === null || status === '') {
    return { value: '', defect: 'The status is missing.' };
  }
  if (typeof status !== 'string') return { value: '', defect: 'The status is not a text.' };
  return isStorable(status)
    ? { value: status, defect: '' }
    : { value: '', defect: 'The status cannot be stored.' };
}

function readTime(createdAt: unknown): Checked<string | null> {
  if (createdAt === undefined || createdAt === null || createdAt === '') {
    return { value: null, defect: 'The time of creation (createdAt) is missing.' };
  }
  const value = typeof createdAt === 'string' ? canonicalTime(createdAt) : null;
  return { value, defect: value === null ? 'The time of creation (createdAt) is not a date.' : '' };
}

function readData(data: unknown): Checked<Answers> {
  if (data === undefined || data === null)
    return { value: {}, defect: 'The answers (data) are missing.' };
  if (!isJsonObject(data)) return { value: {}, defect: 'The answers (data) are not an object.' };
  return { value: data as Answers, defect: '' };
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
export const namelessKeys =
  (secret: string): NamelessKey =>
  (item) => {
    const text = isTooDeep(item) ? TOO_DEEP : JSON.stringify(item);
    return `no-id:${createHmac('sha256', secret).update(text).digest('hex').slice(0, 32)}`;
  };
