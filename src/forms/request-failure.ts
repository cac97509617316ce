import type { BaseUrl } from './base-url.ts';
import { type FormsApiFailure, FormsApiError } from './errors.ts';
import type { FormsRequest } from './forms-request.ts';
import { refusalFields } from './refusal-fields.ts';
import type { HttpResponse } from './http-transport.ts';
import type { TransportFailure } from './transport-failure.ts';

/** Facts for the message of an error response, besides request and response. */
export interface RefusalContext {
  apiKey: string;
  auth: 'bearer' | 'x-api-key';
  base: BaseUrl;
  /** What `Retry-After` said. */
  retryAfterMs: number | undefined;
}

const MAY_HAVE_ARRIVED = 'It may have arrived all the same: look for it before sending it again.';

/** A request that brought no whole response. */
export function transportError(request: FormsRequest, failure: TransportFailure): FormsApiError {
  const ambiguous = request.unrepeatable && !failure.neverSent;
  return new FormsApiError(failure.inBody ? 'FORMS_FAILED' : 'FORMS_UNREACHABLE', {
    request: request.name,
    reason: failure.message,
    remedy: ambiguous ? MAY_HAVE_ARRIVED : failure.remedy,
    retryable: failure.transient && !ambiguous,
    cause: failure,
  });
}

/** A response of 2xx that is not the JSON that was asked for. */
export function notJsonError(
  request: FormsRequest,
  response: HttpResponse,
  reason?: string,
): FormsApiError {
  const failure = { request: request.name, status: response.status };
  if (isHtml(response)) {
    return new FormsApiError('FORMS_FAILED', {
      ...failure,
      reason: 'answered with HTML, not JSON',
      remedy: "Is FORMS_API_URL the API's base address with its version prefix?",
    });
  }
  const empty = response.text.trim() === '';
  return new FormsApiError('FORMS_FAILED', {
    ...failure,
    reason:
      reason ??
      (empty
        ? `answered ${response.status} with an empty body`
        : 'answered with no JSON, or cut it short'),
    remedy: 'Check FORMS_API_URL; if it is right, the API is out of order.',
  });
}

/** A response that goes beyond all bounds. It would again, so it is not asked for again in this pass. */
export function tooMuchError(
  request: FormsRequest,
  response: HttpResponse,
  reason: string,
): FormsApiError {
  return new FormsApiError('FORMS_FAILED', {
    request: request.name,
    status: response.status,
    reason,
    remedy: 'It was not taken apart. Ask the operator of the API what is in it.',
    retryable: false,
  });
}

/** A list that says of itself that it failed: what the API failed at is not repeated, as it may quote anything. */
export function failedListError(
  request: FormsRequest,
  response: HttpResponse,
  failure: string,
): FormsApiError {
  return new FormsApiError('FORMS_FAILED', {
    request: request.name,
    status: response.status,
    reason: `answered ${response.status} with ${failure}`,
    remedy: 'That answer does not show which submissions exist.',
  });
}

/** A 2xx to a change whose body says that it was not made. What the body says is not repeated, as it may quote anything. */
export function notDoneError(
  request: FormsRequest,
  response: HttpResponse,
  contradiction: string,
): FormsApiError {
  return new FormsApiError('FORMS_FAILED', {
    request: request.name,
    status: response.status,
    reason: `answered ${response.status} with ${contradiction}`,
    remedy: 'The change was not made.',
    retryable: false,
  });
}

/** A response other than 2xx. */
export function refusalError(
  request: FormsRequest,
  response: HttpResponse,
  context: RefusalContext,
): FormsApiError {
  const { status } = response;
  const failure = { request: request.name, status, retryAfterMs: context.retryAfterMs };
  if (status >= 500 || status === 429) return failed(request, failure);
  if (status === 401) return unauthorized(failure, context);
  if (status === 404) return notFound(request, failure);
  if (status < 400) return redirect(response, failure, context);
  const fields = refusalFields(response.text, {
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
  response: HttpResponse,
  failure: Answered,
  { apiKey, base }: RefusalContext,
): FormsApiError {
  const header = response.header('location') ?? '';
  if (header === '') {
    return new FormsApiError('FORMS_REDIRECT', {
      ...failure,
      reason: `answered ${failure.status}, which is not an answer, and gave no other address`,
      remedy:
        'Is FORMS_API_URL right? If it is, something between here and the API, such as a cache, is out of order.',
    });
  }
  const location = URL.parse(header, base.origin);
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

const isHtml = (response: HttpResponse): boolean =>
  /html/i.test(response.header('content-type') ?? '') || /^\s*</.test(response.text);
