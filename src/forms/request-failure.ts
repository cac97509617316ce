import type { BaseUrl } from './base-url.ts';
import { type FormsApiFailure, FormsApiError } from './errors.ts';
import type { FormsRequest } from './forms-request.ts';
import { refusalFields } from './refusal-fields.ts';
import type { WireAnswer } from './wire.ts';
import type { WireFault } from './wire-fault.ts';

/** What an error about an answer draws on besides request and answer. */
export interface RefusalContext {
  apiKey: string;
  auth: 'bearer' | 'x-api-key';
  base: BaseUrl;
  /** What `Retry-After` said. */
  retryAfterMs: number | undefined;
}

const MAY_HAVE_ARRIVED = 'It may have arrived all the same: look for it before sending it again.';

/** A request that brought no whole answer. */
export function faultError(request: FormsRequest, fault: WireFault): FormsApiError {
  const ambiguous = request.unrepeatable && !fault.neverSent;
  return new FormsApiError(fault.inBody ? 'FORMS_NOT_JSON' : 'FORMS_UNREACHABLE', {
    request: request.name,
    reason: fault.message,
    remedy: ambiguous ? MAY_HAVE_ARRIVED : fault.remedy,
    retryable: fault.passing && !ambiguous,
    cause: fault,
  });
}

/** An answer of 2xx that is not the JSON we asked for. */
export function notJsonError(
  request: FormsRequest,
  answer: WireAnswer,
  reason?: string,
): FormsApiError {
  const failure = { request: request.name, status: answer.status };
  if (isHtml(answer)) {
    return new FormsApiError('FORMS_NOT_JSON', {
      ...failure,
      reason: 'answered with HTML, not JSON',
      remedy: "Is FORMS_API_URL the API's base address with its version prefix?",
    });
  }
  const empty = answer.text.trim() === '';
  return new FormsApiError('FORMS_NOT_JSON', {
    ...failure,
    reason:
      reason ??
      (empty
        ? `answered ${answer.status} with an empty body`
        : 'answered with no JSON, or cut it short'),
    remedy: 'Check FORMS_API_URL; if it is right, the API is out of order.',
  });
}

/** An answer other than 2xx. */
export function refusalError(
  request: FormsRequest,
  answer: WireAnswer,
  context: RefusalContext,
): FormsApiError {
  const { status } = answer;
  const failure = { request: request.name, status, retryAfterMs: context.retryAfterMs };
  if (status >= 500 || status === 429) return failed(request, failure);
  if (status === 401) return unauthorized(failure, context);
  if (status === 404) return notFound(request, failure);
  if (status < 400) return redirect(answer, failure, context);
  const fields = refusalFields(answer.text, {
    secrets: [...request.secrets, context.apiKey],
    subjects: request.subjects,
  });
  return new FormsApiError('FORMS_REFUSED', {
    ...failure,
    reason: `refused with ${status}${listFields(fields)}`,
    fields,
    ...(status === 403 ? { remedy: 'The key of FORMS_API_KEY may not do this.' } : {}),
  });
}

type Answered = FormsApiFailure extends infer F ? Omit<F, 'reason'> & { status: number } : never;

function failed(request: FormsRequest, failure: Answered): FormsApiError {
  const { status } = failure;
  // The API calls 500 safe to retry; 429 and 503 say that nothing was begun. Of 502 and 504 only the gateway knows.
  const ambiguous = request.unrepeatable && ![429, 500, 503].includes(status);
  return new FormsApiError('FORMS_FAILED', {
    ...failure,
    reason: `answered ${status}${status === 429 ? ' (too many requests)' : ''}`,
    ...(ambiguous ? { remedy: MAY_HAVE_ARRIVED, retryable: false } : {}),
  });
}

function unauthorized(failure: Answered, { auth }: RefusalContext): FormsApiError {
  return new FormsApiError('FORMS_UNAUTHORIZED', {
    ...failure,
    reason: 'the key was refused (401): it is wrong, revoked or missing',
    remedy: `Check FORMS_API_KEY against the dashboard (Settings, API keys), and FORMS_API_AUTH (now ${auth}). Nothing more was sent.`,
  });
}

function notFound(request: FormsRequest, failure: Answered): FormsApiError {
  const isList = /^GET \/(forms|submissions)(\?|$)/.test(request.name);
  return new FormsApiError('FORMS_NOT_FOUND', {
    ...failure,
    reason: 'not found (404)',
    remedy: isList
      ? "Is FORMS_API_URL the API's base address with its version prefix, and is the form in this key's workspace?"
      : 'It does not exist, or belongs to another workspace.',
  });
}

function redirect(
  answer: WireAnswer,
  failure: Answered,
  { apiKey, base }: RefusalContext,
): FormsApiError {
  const location = URL.parse(answer.header('location') ?? '', base.origin);
  // Without its query, which may carry anything.
  const address = location === null ? '' : ` to ${location.origin}${location.pathname}`;
  return new FormsApiError('FORMS_REDIRECT', {
    ...failure,
    reason: `answered with a redirect (${failure.status})${address.includes(apiKey) ? '' : address}`,
    remedy:
      'It is not followed, as the key would go along. Set FORMS_API_URL to the final base address.',
  });
}

const MAX_LISTED = 5;

function listFields(fields: ReadonlyMap<string, string>): string {
  if (fields.size === 0) return '';
  const listed = [...fields].slice(0, MAX_LISTED).map(([name, message]) => `${name}: ${message}`);
  const more = fields.size > MAX_LISTED ? `; and ${fields.size - MAX_LISTED} more` : '';
  return ` (${listed.join('; ')}${more})`;
}

const isHtml = (answer: WireAnswer): boolean =>
  /html/i.test(answer.header('content-type') ?? '') || /^\s*</.test(answer.text);
