import { errorCode } from '../../base/errors.ts';

/*
 * Reads the errors of Google's client without trusting them: it puts the request, and so its answers, into its errors, and Google
 * may quote a value in a message (L11).
 */

/** The two halves of a message: what happened, and what to do. */
export type FailureTexts = readonly [what: string, remedy: string];

/** No credentials were found. */
export const NO_CREDENTIALS: FailureTexts = [
  'There are no Google credentials.',
  'Create a service account, download its key as JSON, and set GOOGLE_APPLICATION_CREDENTIALS to the file (or GOOGLE_CREDENTIALS_JSON to its content).',
];

/** Failures that come before a request has reached the server. */
export const UNTOUCHED =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_\w+|ERR_TLS\w+|UNABLE_TO_\w+|DEPTH_ZERO\w+|SELF_SIGNED\w+)$/;

/** Failures to get a token, before a request is sent. */
export function credentialsFailure(facts: CallFacts): FailureTexts | undefined {
  if (facts.oauth === 'invalid_grant') {
    return [
      "Google refused the key: it was deleted or disabled, its account is gone, or this machine's clock is off by more than five minutes.",
      'Set the clock, or create a new key for the service account.',
    ];
  }
  if (facts.oauth !== '') {
    return [`Google refused the credentials (${facts.oauth}).`, 'Check the key file.'];
  }
  const isDamaged = /DECODER routines|PEM routines|asn1 encoding|unsupported.*PEM/i.test(
    facts.text,
  );
  if (isDamaged || facts.code.startsWith('ERR_OSSL')) {
    return [
      'The private_key in the credentials is damaged: it is not a PEM text.',
      'Download the key file again and use it unchanged.',
    ];
  }
  return /Could not load the default credentials/.test(facts.text) ? NO_CREDENTIALS : undefined;
}

/** An API that is not enabled, or a token without the right to it; undefined for any other refusal. */
export function accessFailure(
  { text, reason }: Pick<CallFacts, 'text' | 'reason'>,
  api: { readonly product: string; readonly host: string; readonly scope: string },
): FailureTexts | undefined {
  const isOff = /has not been used in project|it is disabled/.test(text);
  if (isOff || /^(SERVICE_DISABLED|accessNotConfigured)$/.test(reason)) {
    const link = /https:\/\/console\.(?:developers|cloud)\.google\.com\/[\w./?=&-]+/.exec(
      text,
    )?.[0];
    const page = link ?? `https://console.cloud.google.com/apis/library/${api.host}`;
    return [
      `The ${api.product} API is disabled in the Cloud project of these credentials.`,
      `Enable it (${page}), wait two minutes, and try again.`,
    ];
  }
  if (/SCOPE_INSUFFICIENT/.test(reason) || /insufficient authentication scopes/.test(text)) {
    return [
      `The credentials lack the scope ${api.scope}.`,
      'Use a service account key, or sign in again with that scope.',
    ];
  }
  return undefined;
}

/** Google no longer accepts the token. */
export const EXPIRED_CREDENTIALS: FailureTexts = [
  'Google did not accept the credentials: they are expired or revoked.',
  'Create a new key for the service account, or sign in again.',
];

/** The parts of a failed call that can be trusted. Only its numbers and checked words may be shown (L11). */
export interface CallFacts {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** Google's `error.status`. */
  readonly rpc: string;
  /** Google's message, or the error's own. It may be searched but never shown. */
  readonly text: string;
  /** The first `details[].reason` or `errors[].reason`. */
  readonly reason: string;
  /** The system's or library's error code; a word. */
  readonly code: string;
  /** OAuth's `error` from the token endpoint; a word. */
  readonly oauth: string;
  readonly retryAfter: string | undefined;
}

/** Reads the facts from any error of Google's client. */
export function factsOf(error: unknown): CallFacts {
  const outer = asRecord(error);
  const response = asRecord(outer['response']);
  const body = asRecord(parsed(response['data']));
  const inner = asRecord(body['error']);
  const details = listOf(inner['details']).map(asRecord);
  const reasons = [...details, ...listOf(inner['errors']).map(asRecord)].map((one) =>
    textOf(one['reason']),
  );
  const status = outer['status'] ?? response['status'];
  return {
    status: typeof status === 'number' ? status : 0,
    rpc: textOf(inner['status']),
    text: textOf(inner['message']) || textOf(outer['message']),
    reason: reasons.find((reason) => reason !== '') ?? '',
    code: errorCode(error) ?? (isTimeout(outer) ? 'TimeoutError' : ''),
    oauth: /^[\w-]{1,60}$/.exec(textOf(body['error']))?.[0] ?? '',
    retryAfter: retryAfterOf(response['headers']),
  };
}

/** Whether our own time limit ended the call. Google's client shows that by a name, or by a code that the system does not have. */
const isTimeout = (error: Record<string, unknown>): boolean =>
  [error, asRecord(error['cause'])].some(
    ({ name, code }) => name === 'TimeoutError' || code === 'TimeoutError',
  );

function retryAfterOf(headers: unknown): string | undefined {
  const { get } = asRecord(headers);
  const value: unknown =
    typeof get === 'function' ? get.call(headers, 'retry-after') : asRecord(headers)['retry-after'];
  return textOf(value) || undefined;
}

/** Parses a text body as JSON if possible. */
function parsed(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
