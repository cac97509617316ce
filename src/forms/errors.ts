import { type ProblemCode } from '../base/catalogue.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import type { ProxySettings } from '../base/proxy.ts';
import type { BaseUrl, FormsRequest, HttpResponse } from './request.ts';

/** The facts of a failed call. */
export interface FormsApiFailure {
  /** What happened, in a few words for a log line: `answered 503`. */
  readonly reason: string;
  /** What to do now, as a sentence. */
  readonly remedy?: string | undefined;
  /** The HTTP status; null without a response. */
  readonly status?: number | null;
  /** The wait that the server asked for. */
  readonly retryAfterMs?: number | undefined;
  /** Overrides the code's default. False if another try now would fail as well. */
  readonly retryable?: boolean;
}

/**
 * A failed call to the Forms API. Its message contains no key and no answer, and it has no cause, because foreign errors contain
 * headers and bodies. Wrong settings and calls after dispose are plain MirrorErrors, because nothing was sent.
 */
export class FormsApiError extends MirrorError {
  override readonly name = 'FormsApiError';
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** What happened, in a few words: `answered 503`. */
  readonly reason: string;
  /** The wait that the server asked for with `Retry-After`, if any. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ProblemCode, { name: request }: FormsRequest, failure: FormsApiFailure) {
    const { reason, remedy, status = null, retryAfterMs, retryable } = failure;
    const message = `Forms API, ${request}: ${reason}.${remedy === undefined ? '' : ` ${remedy}`}`;
    super(code, message, retryable === undefined ? {} : { retryable });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

const REACH = ', and that this machine reaches the host.';
const TRUST =
  '; a private authority is trusted by setting NODE_EXTRA_CA_CERTS to its certificate file.';

const TOO_LARGE =
  ', or look for enormous answers, such as files as text, in the newest submissions.';

/**
 * By the code of a request's error: what its host does, the end of the remedy, and whether another try may succeed. The first match
 * counts.
 */
const FAILURES: readonly (readonly [RegExp, words: string, remedy: string, retryable: boolean])[] =
  [
    // It took minutes, and would take minutes again.
    [/^TOTAL_TIMEOUT$/, 'takes too long to answer', REACH, false],
    [
      /CERT|SELF_SIGNED|^UNABLE_TO_|TLS|^ERR_SSL_|^EPROTO$/,
      'has no TLS that is accepted',
      TRUST,
      false,
    ],
    [/MAX_SIZE$|^ERR_BUFFER_TOO_LARGE$/, 'answers with more than 64 MiB', TOO_LARGE, false],
  ];
/** Any other, such as ECONNREFUSED, ENOTFOUND, or UND_ERR_ABORTED for a proxy that refuses CONNECT. */
const NO_ANSWER = [null, 'gives no whole answer', REACH, true] as const;

/** A request without a complete response: an error of undici, of Node's sockets, of zlib or of our own timeout. */
export function transportError(
  request: FormsRequest,
  error: unknown,
  { base, proxy }: { readonly base: BaseUrl; readonly proxy: ProxySettings | undefined },
): FormsApiError {
  const code = errorCode(error) ?? (error instanceof Error ? error.name : typeof error);
  const [, words, remedy, retryable] = FAILURES.find(([of]) => of.test(code)) ?? NO_ANSWER;
  const host = proxy === undefined ? base.host : `${base.host} or the proxy ${proxy.url.host}`;
  const settings = `FORMS_API_URL${proxy === undefined ? '' : ', HTTPS_PROXY and NO_PROXY'}`;
  return new FormsApiError('FORMS_FAILED', request, {
    reason: `${host} ${words} (${code})`,
    remedy: `Check ${settings}${remedy}`,
    retryable,
  });
}

/** A 2xx response that cannot be used. `what`: what it contains instead of the documented JSON. */
export const unusableError = (
  request: FormsRequest,
  { status }: HttpResponse,
  what: string,
): FormsApiError =>
  new FormsApiError('FORMS_FAILED', request, {
    status,
    reason: `answered ${status} with ${what}`,
    remedy:
      "Is FORMS_API_URL the API's base address with its version prefix? If it is, the API is not working.",
  });

/** A response other than 2xx, with the wait that it asks for. Its body may quote anything, so it is not read. */
export function refusalError(
  request: FormsRequest,
  { status }: HttpResponse,
  auth: 'bearer' | 'x-api-key',
  retryAfterMs: number | undefined,
): FormsApiError {
  const failed = (code: ProblemCode, reason: string, remedy?: string): FormsApiError =>
    new FormsApiError(code, request, { status, retryAfterMs, reason, remedy });
  if (status >= 500) return failed('FORMS_FAILED', `answered ${status}`);
  const notFound: Parameters<typeof failed> = [
    'FORMS_REFUSED',
    `not found (${status})`,
    "It is not in this key's workspace, or FORMS_API_URL is not the API's base address with its version prefix.",
  ];
  const known: Readonly<Record<number, Parameters<typeof failed>>> = {
    401: [
      'FORMS_UNAUTHORIZED',
      'the key was refused (401): it is wrong, revoked or missing',
      `Check FORMS_API_KEY against the dashboard (Settings, API keys), and FORMS_API_AUTH (now ${auth}).`,
    ],
    403: ['FORMS_REFUSED', 'refused with 403', 'The key of FORMS_API_KEY may not do this.'],
    404: notFound,
    410: notFound,
    429: [
      'FORMS_FAILED',
      'answered 429 (too many requests)',
      'Set FORMS_API_RATE to what your plan allows.',
    ],
  };
  const refusal = known[status];
  if (refusal !== undefined) return failed(...refusal);
  if (status >= 400) return failed('FORMS_REFUSED', `refused with ${status}`);
  return failed(
    'FORMS_REFUSED',
    `answered with a redirect (${status})`,
    'It is not followed, because the key would be sent along. Set FORMS_API_URL to the final base address.',
  );
}
