import type { BaseUrl } from './base-url.ts';

/** Why a request brought no whole answer. Made of our own words and the fault's code: foreign errors carry headers and bodies. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
  /** The foreign error's code: ECONNREFUSED, UND_ERR_SOCKET, …; its class name when it has none. */
  readonly code: string;
  /** True when the server certainly saw nothing of the request. */
  readonly neverSent: boolean;
  /** True when an answer began and then went wrong: cut, silent, damaged, too large. */
  readonly inBody: boolean;
  /** False when the same thing will happen again until somebody changes something: a bad certificate, a huge answer. */
  readonly passing: boolean;
  /** What to do, when there is more to say than to try again. */
  readonly remedy: string | undefined;

  constructor(code: string, words: FaultWords, inBody: boolean) {
    super(words.what);
    this.code = code;
    this.neverSent = words.neverSent ?? false;
    this.passing = words.passing ?? true;
    this.remedy = words.remedy;
    this.inBody = inBody;
  }
}

interface FaultWords {
  what: string;
  remedy?: string;
  neverSent?: boolean;
  passing?: boolean;
}

/** Where and when a fault happened. */
export interface FaultContext {
  base: BaseUrl;
  timeoutMs: number;
  /** True when the headers had come. */
  inBody: boolean;
}

const CHECK_ADDRESS = 'Check FORMS_API_URL, and that this machine reaches the host.';
const CHECK_CERTIFICATE =
  'Check FORMS_API_URL; a private authority is trusted by setting NODE_EXTRA_CA_CERTS to its certificate file.';

/** Translates an error of undici, of Node's sockets, of zlib or of our own patience. */
export function toWireFault(error: unknown, context: FaultContext): WireFault {
  const code = codeOf(error);
  const { host } = context.base;
  const words =
    connectWords(code, host) ??
    certificateWords(code, host) ??
    (context.inBody ? bodyWords(code, context) : answerWords(code, context));
  return new WireFault(code, words, context.inBody);
}

/** The connection never came about. */
function connectWords(code: string, host: string): FaultWords | undefined {
  const refused = (what: string): FaultWords => ({ what, remedy: CHECK_ADDRESS, neverSent: true });
  switch (code) {
    case 'ECONNREFUSED':
      return refused(`nothing listens at ${host} (connection refused)`);
    case 'ENOTFOUND':
      return refused(`the host of ${host} is unknown (DNS)`);
    case 'EAI_AGAIN':
      return refused(`the host of ${host} could not be looked up just now (DNS)`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENETDOWN':
    case 'EHOSTDOWN':
      return refused(`there is no network route to ${host}`);
    case 'UND_ERR_CONNECT_TIMEOUT':
      return refused(`${host} took no connection in time`);
    default:
      return undefined;
  }
}

/** TLS failed before a byte of the request was sent. */
function certificateWords(code: string, host: string): FaultWords | undefined {
  const bad = (what: string): FaultWords => {
    return { what, remedy: CHECK_CERTIFICATE, neverSent: true, passing: false };
  };
  if (code === 'CERT_HAS_EXPIRED') return bad(`the TLS certificate of ${host} has expired`);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return bad(`the TLS certificate that ${host} shows is for another host`);
  }
  if (/SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^CERT_|_CERT_|_IN_CRL/.test(code)) {
    return bad(`the TLS certificate of ${host} is not one that this machine trusts`);
  }
  if (/^ERR_SSL_|^EPROTO$|^ERR_TLS_/.test(code)) return bad(`${host} does not speak https`);
  return undefined;
}

/** The request may have been sent; no headers came. */
function answerWords(code: string, { base, timeoutMs }: FaultContext): FaultWords {
  switch (code) {
    case 'SILENT':
    case 'TOO_SLOW':
      return { what: `${base.host} did not answer within ${duration(timeoutMs)}` };
    case 'ETIMEDOUT':
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return { what: `the connection to ${base.host} broke before an answer came` };
    default:
      if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
        return { what: `${base.host} answered with something that is not HTTP` };
      }
      return { what: `the request to ${base.host} failed (${code})` };
  }
}

/** The headers came, the body did not come whole. */
function bodyWords(code: string, { timeoutMs }: FaultContext): FaultWords {
  switch (code) {
    case 'SILENT':
      return { what: `the answer broke off: nothing more came for ${duration(timeoutMs)}` };
    case 'ERR_BUFFER_TOO_LARGE':
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return { what: 'the answer is larger than 128 MiB', passing: false };
    case 'TOO_SLOW':
      return { what: 'the answer took too long to come' };
    default:
      return { what: `the answer was cut short (${code})` };
  }
}

const duration = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

/** The code of an error, or of the first of an AggregateError (one per address tried). Codes are constants, never data. */
function codeOf(error: unknown): string {
  const candidates = [error, ...(error instanceof AggregateError ? error.errors : [])];
  for (const candidate of candidates as unknown[]) {
    const code = (candidate as { code?: unknown } | null)?.code;
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) return code;
  }
  return error instanceof Error ? error.name : typeof error;
}
