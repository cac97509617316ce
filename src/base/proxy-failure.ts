import { errorCode } from './error-code.ts';
import { type ProxySettings, proxyHost } from './proxy.ts';

/** What a person or the next try can do about a proxy. */
interface FailureText {
  readonly what: string;
  readonly remedy: string;
  readonly transient: boolean;
}

/**
 * Why a proxy opened no way to a host: nothing of the request was sent. Names the proxy by host and port, never by its user
 * name and password (L15).
 */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** ECONNREFUSED and the like, or PROXY_407. */
  readonly code: string;
  readonly remedy: string;
  /** False when the same thing will happen again until someone changes something. */
  readonly transient: boolean;

  constructor(code: string, { what, remedy, transient }: FailureText) {
    super(what);
    this.code = code;
    this.remedy = remedy;
    this.transient = transient;
  }
}

/** The proxy itself cannot be reached. Other errors, such as that of a stop, pass through. */
export function withoutProxy(proxy: ProxySettings, error: unknown): unknown {
  const code = errorCode(error) ?? (error instanceof Error ? error.name : 'error');
  if (/^UND_ERR_(?:ABORTED|CLOSED|DESTROYED)$/.test(code)) return error;
  const host = proxyHost(proxy);
  if (/_TIMEOUT$|^ETIMEDOUT$/.test(code)) {
    const remedy = `Check HTTPS_PROXY, and that ${host} lets this machine in.`;
    return new ProxyFailure(code, {
      what: `the proxy ${host} did not answer in time`,
      remedy,
      transient: true,
    });
  }
  if (/^(?:ERR_SSL_|ERR_TLS_|EPROTO|CERT_|UNABLE_TO_)|SELF_SIGNED|_CERT_/.test(code)) {
    return new ProxyFailure(code, {
      what: `no safe connection to the proxy ${host} could be made (${code})`,
      remedy:
        'Check the https:// in HTTPS_PROXY; a private authority is trusted by setting NODE_EXTRA_CA_CERTS to its certificate file.',
      transient: false,
    });
  }
  const isOther = code === 'HTTPParserError' || code.startsWith('HPE_');
  return new ProxyFailure(code, {
    what: isOther
      ? `what listens at ${host} is no http proxy`
      : `the proxy ${host} could not be reached (${code})`,
    remedy: `Check HTTPS_PROXY, and that this machine reaches ${host}.`,
    transient: true,
  });
}

/** The proxy answered a CONNECT to `target` (host and port) with something else than 200. */
export function refusedByProxy(proxy: ProxySettings, status: number, target: string): ProxyFailure {
  return new ProxyFailure(`PROXY_${status}`, refusal(proxy, status, target));
}

function refusal(proxy: ProxySettings, status: number, target: string): FailureText {
  const host = proxyHost(proxy);
  if (status === 407) {
    const isGiven = proxy.url.username !== '';
    return {
      what: isGiven
        ? `the proxy ${host} refused the user name and password of HTTPS_PROXY (407)`
        : `the proxy ${host} wants a user name and a password (407)`,
      remedy: `Set HTTPS_PROXY=http://user:password@${host} with the right ones; special characters in them are written as %40 and the like.`,
      transient: false,
    };
  }
  const unreached = `the proxy ${host} could not reach ${target} (${status})`;
  if (status >= 500 || status === 408 || status === 429) {
    const remedy = `If it stays so, ask who runs the proxy; NO_PROXY names hosts that are reached without it.`;
    return { what: unreached, remedy, transient: true };
  }
  return {
    what: `the proxy ${host} does not let this machine connect to ${target} (${status})`,
    remedy: 'Ask who runs the proxy to allow it, or name the host in NO_PROXY.',
    transient: false,
  };
}

/** Far more causes than any library chains; an error may be its own cause. */
const MAX_DEPTH = 5;

/** The failure of a proxy behind a foreign error, if there is one. */
export function proxyFailureIn(error: unknown): ProxyFailure | undefined {
  let next = error;
  for (let depth = 0; depth < MAX_DEPTH && next instanceof Error; depth += 1) {
    if (next instanceof ProxyFailure) return next;
    next = next.cause;
  }
  return undefined;
}
