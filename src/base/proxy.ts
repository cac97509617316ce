import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, Pool } from 'undici';
import { errorsIn } from './errors.ts';

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
    clientFactory: (origin, own) => proxyPool(origin, { ...own, headersTimeout: connectTimeoutMs }),
  });
}

/** The connections to the proxy itself. An error of undici's own would look like a stop. */
function proxyPool(origin: URL, options: Pool.Options): Pool {
  const pool = new Pool(origin, options);
  const connect = pool.connect.bind(pool);
  const ask = async (request: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const answer = await connect(request);
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyFailure(answer.statusCode, request.path);
  };
  pool.connect = ask;
  return pool;
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

/** The proxy did not connect to the host, so nothing of the request was sent. The message ends a sentence. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** As a sentence. */
  readonly remedy =
    'Check HTTPS_PROXY (407: its user name and password, http://user:password@host:port) and NO_PROXY, or ask the operator of the proxy.';
  /** False if it will fail again until a person changes something. */
  readonly transient: boolean;

  /** `target`: host and port. */
  constructor(status: number, target: string) {
    super(`the proxy of HTTPS_PROXY did not connect to ${target} (${status})`);
    this.transient = status >= 500 || status === 408 || status === 429;
  }
}

/** The proxy failure behind a foreign error, if there is one. */
export const proxyFailureIn = (error: unknown): ProxyFailure | undefined =>
  errorsIn(error).find((each) => each instanceof ProxyFailure);
