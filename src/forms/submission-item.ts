import { createHmac } from 'node:crypto';
import { canonicalTime } from '../mirror/canonical-time.ts';
import { isJsonObject, isTooDeep, TOO_DEEP } from '../mirror/json.ts';
import type { Answers, SubmissionItem } from '../mirror/types.ts';

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
  if (!isJsonObject(json))
    return { key: nameless(json), submission: null, defects: ['The item is not an object.'] };
  const defects: string[] = [];
  const id = readWord('ID', json['id'], defects);
  if (id === '') {
    const status = readWord('status', json['status'], []);
    const item = { key: nameless(json), submission: null, defects };
    return status === '' ? item : { ...item, status };
  }
  const submission = {
    id,
    formId: typeof json['formId'] === 'string' ? json['formId'] : formId,
    status: readWord('status', json['status'], defects),
    createdAt: readTime(json['createdAt'], defects),
    data: readData(json['data'], defects),
  };
  return { key: id, submission, defects };
}

/**
 * The item in a response about the submission `id`, bare or wrapped in a property of any name (the API does not document which):
 * the one object with this ID. Undefined if there is none.
 */
export function singleSubmission(json: unknown, id: string): SubmissionItem | undefined {
  if (!isJsonObject(json)) return undefined;
  const found = [json, ...Object.values(json)].find(
    (value) => isJsonObject(value) && Object.hasOwn(value, 'id') && value['id'] === id,
  );
  return found === undefined ? undefined : submissionItem(found, '', () => '');
}

/* Each reader adds to `defects` if the value cannot be used. */

/** Empty if it cannot be used. */
function readWord(what: 'ID' | 'status', value: unknown, defects: string[]): string {
  if (value === undefined || value === null || value === '')
    defects.push(`The ${what} is missing.`);
  else if (typeof value !== 'string') defects.push(`The ${what} is not a text.`);
  else if (!isStorable(value)) defects.push(`The ${what} cannot be stored.`);
  else return value;
  return '';
}

/** Whether every target can hold a text as an ID or a status. */
const isStorable = (text: string): boolean =>
  text.length <= MAX_LENGTH && text.isWellFormed() && text.trim() !== '' && !/\p{Cc}/u.test(text);

function readTime(createdAt: unknown, defects: string[]): string | null {
  const isMissing = createdAt === undefined || createdAt === null || createdAt === '';
  const time = typeof createdAt === 'string' ? canonicalTime(createdAt) : null;
  if (time === null)
    defects.push(`The time of creation (createdAt) is ${isMissing ? 'missing' : 'not a date'}.`);
  return time;
}

function readData(data: unknown, defects: string[]): Answers {
  if (isJsonObject(data)) return data as Answers;
  const isMissing = data === undefined || data === null;
  defects.push(`The answers (data) are ${isMissing ? 'missing' : 'not an object'}.`);
  return {};
}

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
