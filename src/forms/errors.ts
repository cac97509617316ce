import { type ProblemCode } from '../base/catalogue.ts';
import { errorCode, MirrorError, safeText } from '../base/errors.ts';
import { duration } from '../base/format.ts';
import { proxyFailureIn, proxyHost, type ProxySettings } from '../base/proxy.ts';
import { isJsonObject } from './exact-json.ts';
import type { BaseUrl, FormsRequest, HttpResponse } from './request.ts';

/** The other facts of a failed call. */
export interface FormsApiFailure {
  /** Which request: `GET /submissions?formId=…&page=3`. */
  readonly request: string;
  /** What happened, in a few words for a log line: `answered 503`. */
  readonly reason: string;
  /** What to do now, as a sentence. */
  readonly remedy?: string | undefined;
  /** The HTTP status; null without an answer. */
  readonly status?: number | null;
  /** The wait that the server asked for. */
  readonly retryAfterMs?: number | undefined;
  /** Overrides the code's own answer. False when the same thing will happen again until someone changes something. */
  readonly retryable?: boolean | undefined;
  /** It waits for the next run, though it is retryable. */
  readonly isSlow?: boolean;
}

/**
 * A call to the Forms API that failed. Its message holds no key and no answer, and it has no cause: foreign errors carry
 * headers and bodies. Wrong settings and calls after dispose are plain MirrorErrors, as nothing was sent.
 */
export class FormsApiError extends MirrorError {
  override readonly name = 'FormsApiError';
  /** The HTTP status; null without an answer. */
  readonly status: number | null;
  /** Which request: `GET /submissions?formId=…&page=3`. */
  readonly request: string;
  /** What happened, in a few words: `answered 503`. */
  readonly reason: string;
  /** The wait that the server asked for with `Retry-After`, if it did. */
  readonly retryAfterMs: number | undefined;
  /** Another try now may succeed. What took minutes once takes as long again: it waits for the next run. */
  readonly isWorthRepeating: boolean;

  constructor(code: ProblemCode, failure: FormsApiFailure) {
    const remedy = failure.remedy === undefined ? '' : ` ${failure.remedy}`;
    const { retryable } = failure;
    const message = `Forms API, ${failure.request}: ${failure.reason}.${remedy}`;
    super(code, message, retryable === undefined ? {} : { retryable });
    this.status = failure.status ?? null;
    this.request = failure.request;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
    this.isWorthRepeating = this.retryable && failure.isSlow !== true;
  }
}

/** What `call` resolves to; null when it rejects with FORMS_NOT_FOUND. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'FORMS_NOT_FOUND') return null;
    throw error;
  }
}

/** Where and when a request failed. */
export interface FailureContext {
  readonly base: BaseUrl;
  readonly proxy: ProxySettings | undefined;
  readonly timeoutMs: number;
  /** True when the headers had come. */
  readonly inBody: boolean;
}

/** A request that brought no whole response: an error of undici, of Node's sockets, of zlib or of our own timeout. */
export function transportError(
  request: FormsRequest,
  error: unknown,
  context: FailureContext,
): FormsApiError {
  const failure = transportFailure(error, context);
  const code = context.inBody ? 'FORMS_FAILED' : 'FORMS_UNREACHABLE';
  return new FormsApiError(code, { request: request.name, retryable: true, ...failure });
}

type TransportFailure = Pick<FormsApiFailure, 'reason' | 'remedy' | 'retryable' | 'isSlow'>;

function transportFailure(error: unknown, context: FailureContext): TransportFailure {
  const refused = proxyFailureIn(error);
  if (refused !== undefined) {
    const { message: reason, remedy, transient: retryable } = refused;
    return { reason, remedy, retryable };
  }
  const code = errorCode(error) ?? (error instanceof Error ? error.name : typeof error);
  return unsent(code, context) ?? (context.inBody ? cutShort : unanswered)(code, context);
}

/** Codes of a failed connection, and their messages. `host`: the host that may have failed; `to`: the host of the API. */
const NOT_CONNECTED: readonly (readonly [RegExp, (host: string, to: string) => string])[] = [
  [/^ECONNREFUSED$/, (host) => `nothing listens at ${host} (connection refused)`],
  [/^ENOTFOUND$/, (host) => `the host of ${host} is unknown (DNS)`],
  [/^EAI_AGAIN$/, (host) => `the host of ${host} could not be looked up just now (DNS)`],
  [/^E(?:HOST|NET)(?:UNREACH|DOWN)$/, (host) => `there is no network route to ${host}`],
  [/^UND_ERR_CONNECT_TIMEOUT$/, (host) => `${host} took no connection in time`],
  [/^UND_ERR_PRX_CONN$/, (_host, to) => `the proxy closed the connection to ${to}`],
];
/** The same of TLS, which failed before a byte of the request was sent. */
const NOT_SECURED: typeof NOT_CONNECTED = [
  [/^CERT_HAS_EXPIRED$/, (host) => `the TLS certificate of ${host} has expired`],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|UND_ERR_PRX_TLS)$/,
    (host) => `the TLS certificate that ${host} shows is for another host`,
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^CERT_|_CERT_|_IN_CRL/,
    (host) => `the TLS certificate of ${host} is not one that this machine trusts`,
  ],
  [/^ERR_SSL_|^EPROTO$|^ERR_TLS_/, (host) => `${host} does not speak https`],
];

/** Nothing of the request was sent. */
function unsent(code: string, { base, proxy }: FailureContext): TransportFailure | undefined {
  const host = whereTo(base, proxy);
  const check = `Check FORMS_API_URL${proxy === undefined ? '' : ', HTTPS_PROXY and NO_PROXY'}`;
  const textIn = (table: typeof NOT_CONNECTED): string | undefined =>
    table.find(([pattern]) => pattern.test(code))?.[1](host, base.host);
  const unconnected = textIn(NOT_CONNECTED);
  if (unconnected !== undefined) {
    const remedy = `${check}, and that this machine reaches the host.`;
    return { reason: unconnected, remedy };
  }
  const reason = textIn(NOT_SECURED);
  const remedy = `${check}; a private authority is trusted by setting NODE_EXTRA_CA_CERTS to its certificate file.`;
  return reason === undefined ? undefined : { reason, remedy, retryable: false };
}

/** Who may have failed, for messages. */
const whereTo = ({ host }: BaseUrl, proxy: ProxySettings | undefined): string =>
  proxy === undefined ? host : `${host} or the proxy ${proxyHost(proxy)}`;

/** The request may have been sent; no headers came. */
function unanswered(code: string, { base, proxy, timeoutMs }: FailureContext): TransportFailure {
  const host = whereTo(base, proxy);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'TOTAL_TIMEOUT')
    return { reason: `${host} did not answer within ${duration(timeoutMs)}` };
  if (/^(?:ETIMEDOUT|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code))
    return { reason: `the connection to ${host} broke before an answer came` };
  if (/^HPE_|^HTTPParserError$|^UND_ERR_HEADERS_OVERFLOW$/.test(code))
    return { reason: `${host} answered with something that is not HTTP` };
  return { reason: `the request to ${host} failed (${code})` };
}

/** The headers came, the body did not come whole. */
function cutShort(code: string, { timeoutMs }: FailureContext): TransportFailure {
  if (code === 'UND_ERR_BODY_TIMEOUT')
    return { reason: `the answer broke off: nothing more came for ${duration(timeoutMs)}` };
  if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return { reason: 'the answer is larger than 64 MiB', retryable: false };
  if (code === 'TOTAL_TIMEOUT') return { reason: 'the answer took too long to come', isSlow: true };
  return { reason: `the answer was cut short (${code})` };
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
  const isEmpty = response.text.trim() === '';
  return new FormsApiError('FORMS_FAILED', {
    ...failure,
    reason:
      reason ??
      (isEmpty
        ? `answered ${response.status} with an empty body`
        : 'answered with no JSON, or cut it short'),
    remedy: 'Check FORMS_API_URL; if it is right, the API is not working.',
  });
}

const isHtml = (response: HttpResponse): boolean =>
  /html/i.test(response.header('content-type') ?? '') || /^\s*</.test(response.text);

/** A list that says of itself that it failed: what the API failed at is not repeated, as it may quote anything. */
export const failedListError = (
  request: FormsRequest,
  { status }: HttpResponse,
  failure: string,
): FormsApiError =>
  new FormsApiError('FORMS_FAILED', {
    request: request.name,
    status,
    reason: `answered ${status} with ${failure}`,
    remedy: 'That answer does not show which submissions exist.',
  });

/** Other facts for the message of an error response. */
export interface RefusalContext {
  readonly apiKey: string;
  readonly auth: 'bearer' | 'x-api-key';
  readonly base: BaseUrl;
  /** What `Retry-After` said. */
  readonly retryAfterMs: number | undefined;
}

/** A response other than 2xx. */
export function refusalError(
  request: FormsRequest,
  response: HttpResponse,
  { apiKey, auth, base, retryAfterMs }: RefusalContext,
): FormsApiError {
  const { status } = response;
  const failure = { request: request.name, status, retryAfterMs };
  if (status >= 500 || status === 429) {
    if (status === 429)
      return new FormsApiError('FORMS_FAILED', {
        ...failure,
        reason: 'answered 429 (too many requests)',
        remedy: 'Set FORMS_API_RATE to what your plan allows.',
      });
    return new FormsApiError('FORMS_FAILED', { ...failure, reason: `answered ${status}` });
  }
  if (status === 401) {
    return new FormsApiError('FORMS_UNAUTHORIZED', {
      ...failure,
      reason: 'the key was refused (401): it is wrong, revoked or missing',
      remedy: `Check FORMS_API_KEY against the dashboard (Settings, API keys), and FORMS_API_AUTH (now ${auth}).`,
    });
  }
  if (status === 404) {
    const isList = /^GET \/(forms|submissions)(\?|$)/.test(request.name);
    return new FormsApiError('FORMS_NOT_FOUND', {
      ...failure,
      reason: 'not found (404)',
      remedy: isList
        ? "Is FORMS_API_URL the API's base address with its version prefix, and is the form in this key's workspace?"
        : 'It does not exist, or it belongs to another workspace.',
    });
  }
  if (status < 400) {
    const location = response.header('location') ?? '';
    return new FormsApiError('FORMS_REDIRECT', {
      ...failure,
      ...(location === '' ? nowhere(status) : elsewhere(status, location, apiKey, base)),
    });
  }
  const said = refusalText(response.text, request.subjects);
  // A message may repeat the key that it was sent (L15).
  const shown = said === '' || said.includes(apiKey) ? '' : ` (${said})`;
  return new FormsApiError('FORMS_REFUSED', {
    ...failure,
    reason: `refused with ${status}${shown}`,
    ...(status === 403 ? { remedy: 'The key of FORMS_API_KEY may not do this.' } : {}),
  });
}

type Redirect = Pick<FormsApiFailure, 'reason' | 'remedy'>;

const nowhere = (status: number): Redirect => ({
  reason: `answered ${status} without an address to redirect to`,
  remedy:
    'Is FORMS_API_URL right? If it is, something between here and the API, such as a cache, is not working.',
});

function elsewhere(status: number, header: string, apiKey: string, base: BaseUrl): Redirect {
  const location = URL.parse(header, base.origin);
  // Without its query, which may carry anything.
  const address = location === null ? '' : ` to ${location.origin}${location.pathname}`;
  return {
    reason: `answered with a redirect (${status})${address.includes(apiKey) ? '' : address}`,
    remedy:
      'The redirect is not followed, because the key would be sent along. Set FORMS_API_URL to the final base address.',
  };
}

const MAX_FIELDS = 5;
const MAX_MESSAGE = 200;

/**
 * What a refusal says of our own parameters and properties, from `fields` of its body; the entries' shape is not documented, so every
 * usual one is read. Anything else may tell what the API holds, and is not shown (L11). Empty where it says nothing of them.
 */
export function refusalText(body: string, subjects: readonly string[]): string {
  let fields: unknown;
  try {
    const parsed: unknown = JSON.parse(body);
    fields = isJsonObject(parsed) && Object.hasOwn(parsed, 'fields') ? parsed['fields'] : undefined;
  } catch {
    return '';
  }
  const entries: [string, unknown][] = Array.isArray(fields)
    ? fields.map((entry: unknown) => [firstText(entry, ['field', 'name', 'path', 'id']), entry])
    : Object.entries(isJsonObject(fields) ? fields : {});
  return entries
    .filter(([name]) => subjects.includes(name))
    .slice(0, MAX_FIELDS)
    .map(([name, entry]) => `${name}: ${safeText(messageOf(entry), MAX_MESSAGE)}`)
    .join('; ');
}

function messageOf(entry: unknown): string {
  if (typeof entry === 'string') return entry;
  const text = Array.isArray(entry)
    ? entry.map(messageOf).join('; ')
    : firstText(entry, ['message', 'error', 'reason', 'detail', 'code']);
  return text === '' ? 'refused' : text;
}

/** The first of these members that is a text; empty for none. */
const firstText = (entry: unknown, keys: readonly string[]): string =>
  keys
    .map((key) => (isJsonObject(entry) && Object.hasOwn(entry, key) ? entry[key] : undefined))
    .find((value): value is string => typeof value === 'string') ?? '';
