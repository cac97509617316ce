import { isJsonObject, parseExactJson } from './exact-json.ts';
import { singleSubmission } from './submission-item.ts';

/*
 * What a body with the status of a success says against itself. Its members are not documented; these are the ones that
 * APIs use for it. Only names are repeated in messages, never what stands there: it may quote anything.
 */

/** Members that say of the whole answer whether it succeeded. */
const VERDICTS: readonly (readonly [member: string, isFailure: (value: unknown) => boolean])[] = [
  ['success', isNo],
  ['ok', isNo],
  ['status', (value) => isErrorStatus(value) || isErrorWord(value)],
  ['statusCode', isErrorStatus],
  ['status_code', isErrorStatus],
];
/** Members that tell of an error, which may be no more than a warning where the answer holds something. */
const ERRORS = ['error', 'errors', 'errorCode', 'error_code', 'errorMessage', 'error_message'];

/** The member that says that the answer as a whole is a failure; undefined when none does. */
export function failureVerdict(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  return VERDICTS.find(([member, isFailure]) => isFailure(own(body, member)))?.[0];
}

/** The member that tells of an error, beside whatever else the answer holds. */
export function toldError(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  return ERRORS.find((member) => tellsSomething(own(body, member)));
}

/**
 * How a list that came with the status of a success says that it is none, in words for a message; undefined when it does not.
 * A list that holds something may carry a warning, but no verdict that it failed. An empty one proves that there is nothing:
 * so anything that tells of an error makes it a failure.
 */
export function listFailure(body: unknown): string | undefined {
  if (!isJsonObject(body)) return undefined;
  const verdict = failureVerdict(body);
  if (verdict !== undefined) return `a list that says it failed ("${verdict}")`;
  const items = own(body, 'items');
  if (!Array.isArray(items) || items.length > 0) return undefined;
  const member = toldError(body) ?? (isErrorCode(own(body, 'code')) ? 'code' : undefined);
  if (member === undefined) return undefined;
  const named = member === 'error' || member === 'errors' ? '' : ` ("${member}")`;
  return `an error beside an empty list${named}`;
}

const own = (body: Readonly<Record<string, unknown>>, member: string): unknown =>
  Object.hasOwn(body, member) ? body[member] : undefined;

/** Neither empty nor a way to say "none". */
const tellsSomething = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : value !== false && value !== undefined && value !== null && value !== '' && value !== 0;

function isNo(value: unknown): boolean {
  return value === false || value === 0 || word(value) === 'false';
}

/** An HTTP status from 400. */
function isErrorStatus(value: unknown): boolean {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^[45]\d\d$/.test(text.trim());
}

function isErrorWord(value: unknown): boolean {
  return ['error', 'err', 'fail', 'failed', 'failure'].includes(word(value));
}

/** `code` is a status, or a word such as INTERNAL: one that is not known for a success. */
function isErrorCode(value: unknown): boolean {
  if (isErrorStatus(value)) return true;
  const code = word(value);
  return code !== '' && !/^[0-3]?\d{0,2}$/.test(code) && !['ok', 'success', 'none'].includes(code);
}

const word = (value: unknown): string =>
  typeof value === 'string' ? value.trim().toLowerCase() : '';

/**
 * What the body of a 2xx to a change of status says against it: it names an error, or shows the submission itself, bare or
 * wrapped, in another status. Null for anything else; a body that shows it in the wanted status is no proof that it has it.
 */
export function contradictionIn(body: string, id: string, wanted: string): string | null {
  let json: unknown;
  try {
    json = parseExactJson(body);
  } catch {
    return null;
  }
  if (!isJsonObject(json)) return null;
  if (toldError(json) !== undefined) return 'an error in its body';
  const verdict = failureVerdict(json);
  if (verdict !== undefined) return `"${verdict}" in its body saying that it failed`;
  const status = statusIn(json, id);
  return status === '' || status === wanted ? null : 'the submission in another status';
}

/** Whether the body of a PATCH shows the submission in the status that was asked for. */
export function showsStatus(body: string, id: string, wanted: string): boolean {
  try {
    return statusIn(parseExactJson(body), id) === wanted;
  } catch {
    return false;
  }
}

const statusIn = (json: unknown, id: string): string =>
  singleSubmission(json, id)?.submission?.status ?? '';
