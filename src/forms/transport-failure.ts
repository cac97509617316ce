import { errorCode } from '../base/error-code.ts';
import { duration } from '../base/format.ts';
import { proxyFailureIn } from '../base/proxy-failure.ts';
import { type ProxySettings, proxyHost } from '../base/proxy.ts';
import type { BaseUrl } from './base-url.ts';

/**
 * Why a request brought no whole response. Holds our own words and the original error's code only: foreign errors carry
 * headers and bodies.
 */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
  /** The foreign error's code: ECONNREFUSED, UND_ERR_SOCKET, …; its class name when it has none. */
  readonly code: string;
  /** True when the server certainly saw nothing of the request. */
  readonly neverSent: boolean;
  /** True when a response began and then went wrong: cut short, stalled, damaged, too large. */
  readonly inBody: boolean;
  /** False when the same thing will happen again until someone changes something: a bad certificate, a huge response. */
  readonly transient: boolean;
  /** What to do, when there is more to do than to try again. */
  readonly remedy: string | undefined;

  constructor(code: string, text: FailureText, inBody: boolean) {
    super(text.what);
    this.code = code;
    this.neverSent = text.neverSent ?? false;
    this.transient = text.transient ?? true;
    this.remedy = text.remedy;
    this.inBody = inBody;
  }
}

interface FailureText {
  what: string;
  remedy?: string;
  neverSent?: boolean;
  transient?: boolean;
}

/** Where and when a request failed. */
export interface FailureContext {
  base: BaseUrl;
  /** The one that leads there, if any. */
  proxy?: ProxySettings | undefined;
  timeoutMs: number;
  /** True when the headers had come. */
  inBody: boolean;
}

const CHECK_ADDRESS = 'Check FORMS_API_URL, and that this machine reaches the host.';
const CHECK_CERTIFICATE =
  'Check FORMS_API_URL; a private authority is trusted by setting NODE_EXTRA_CA_CERTS to its certificate file.';

/** Translates an error of undici, of Node's sockets, of zlib or of the request timeout. */
export function toTransportFailure(error: unknown, context: FailureContext): TransportFailure {
  const refused = proxyFailureIn(error);
  if (refused !== undefined) {
    const { code, message: what, remedy, transient } = refused;
    return new TransportFailure(code, { what, remedy, transient, neverSent: true }, false);
  }
  const code = errorCode(error) ?? (error instanceof Error ? error.name : typeof error);
  const { host } = context.base;
  const text =
    connectFailure(code, host) ??
    certificateFailure(code, host) ??
    (context.inBody ? bodyFailure(code, context) : headersFailure(code, context));
  const way = context.proxy === undefined ? '' : ` through the proxy ${proxyHost(context.proxy)}`;
  const what = context.inBody ? text.what : `${text.what}${way}`;
  return new TransportFailure(code, { ...text, what }, context.inBody);
}

/** No connection was made. */
function connectFailure(code: string, host: string): FailureText | undefined {
  const refused = (what: string): FailureText => ({ what, remedy: CHECK_ADDRESS, neverSent: true });
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
function certificateFailure(code: string, host: string): FailureText | undefined {
  const bad = (what: string): FailureText => {
    return { what, remedy: CHECK_CERTIFICATE, neverSent: true, transient: false };
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
function headersFailure(code: string, { base, timeoutMs }: FailureContext): FailureText {
  switch (code) {
    case 'IDLE_TIMEOUT':
    case 'TOTAL_TIMEOUT':
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
function bodyFailure(code: string, { timeoutMs }: FailureContext): FailureText {
  switch (code) {
    case 'IDLE_TIMEOUT':
      return { what: `the answer broke off: nothing more came for ${duration(timeoutMs)}` };
    case 'ERR_BUFFER_TOO_LARGE':
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return { what: 'the answer is larger than 64 MiB', transient: false };
    case 'TOTAL_TIMEOUT':
      return { what: 'the answer took too long to come' };
    default:
      return { what: `the answer was cut short (${code})` };
  }
}
