import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, type Pool } from 'undici';

/** The proxy of this machine's network, according to HTTPS_PROXY (otherwise HTTP_PROXY) and NO_PROXY. */
export interface ProxySettings {
  /** Begins with http: or https:. May contain a user name and a password: only its host is shown (L15). */
  readonly url: URL;
  /** The entries of NO_PROXY: hosts that are reached directly. */
  readonly except: readonly string[];
}

/** How connections are made. */
export interface NetworkOptions extends Pool.Options {
  /** The longest wait for a connection; with a proxy, for each step of it. */
  readonly connectTimeoutMs: number;
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '::1'];

/**
 * Connections to hosts, through the proxy unless NO_PROXY exempts the host. TLS passes through the proxy (CONNECT),
 * so it sees only host and port. Plain http, which is allowed only to loopback hosts and those in ALLOW_PLAINTEXT,
 * never uses the proxy.
 */
export function networkAgent(
  proxy: ProxySettings | undefined,
  { connectTimeoutMs, ...options }: NetworkOptions,
): Dispatcher {
  const connect = { timeout: connectTimeoutMs };
  if (proxy === undefined) return new Agent({ ...options, connect });
  return new EnvHttpProxyAgent({
    ...options,
    connect,
    proxyTls: connect,
    requestTls: connect,
    // Empty instead of absent: otherwise undici would read the environment itself.
    httpProxy: '',
    httpsProxy: proxy.url.href,
    noProxy: [...THIS_MACHINE, ...proxy.except].join(','),
  });
}

/** `fetch`, through the proxy if it is used for the address. */
export function fetchWithProxy(proxy: ProxySettings): typeof globalThis.fetch {
  const dispatcher = networkAgent(proxy, { connectTimeoutMs: 10_000 });
  const fetchIt = (
    input: string | URL,
    init: Parameters<typeof fetch>[1],
  ): ReturnType<typeof fetch> => fetch(input, { ...init, dispatcher });
  return fetchIt as typeof globalThis.fetch;
}
