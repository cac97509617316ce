import { Agent, type Dispatcher, Pool, ProxyAgent, fetch } from 'undici';
import { refusedByProxy, withoutProxy } from './proxy-failure.ts';
import { type ProxySettings, proxyFor } from './proxy.ts';

/** How connections are made. */
export interface ConnectOptions extends Pool.Options {
  /** Longest wait for a connection, with a proxy for each step of it. */
  readonly connectTimeoutMs: number;
}

/**
 * Connections through a proxy: it is asked with CONNECT for a way to the host, and TLS goes through it, so that it sees no
 * byte of a request. What goes wrong with the proxy itself is a ProxyFailure.
 */
export function throughProxy(proxy: ProxySettings, options: ConnectOptions): Dispatcher {
  const { connectTimeoutMs, ...others } = options;
  return new ProxyAgent({
    ...others,
    uri: proxy.url.href,
    proxyTunnel: true,
    connectTimeout: connectTimeoutMs,
    clientFactory: (origin, own) =>
      proxyPool(proxy, origin, { ...own, headersTimeout: connectTimeoutMs }),
  });
}

/** The connections to the proxy itself. */
function proxyPool(proxy: ProxySettings, origin: URL, options: Pool.Options): Pool {
  const pool = new Pool(origin, options);
  const connect = pool.connect.bind(pool);
  const ask = async (request: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    let answer: Dispatcher.ConnectData;
    try {
      answer = await connect(request);
    } catch (error) {
      throw withoutProxy(proxy, error);
    }
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw refusedByProxy(proxy, answer.statusCode, request.path);
  };
  pool.connect = ask;
  return pool;
}

const FETCH_CONNECT_TIMEOUT_MS = 10_000;

/** `fetch`, through the proxy where it leads to the address and directly elsewhere. */
export function fetchWithProxy(proxy: ProxySettings): typeof globalThis.fetch {
  const connectTimeoutMs = FETCH_CONNECT_TIMEOUT_MS;
  const through = throughProxy(proxy, { connectTimeoutMs });
  const direct = new Agent({ connect: { timeout: connectTimeoutMs } });
  const fetchIt = (
    input: string | URL,
    init: Parameters<typeof fetch>[1],
  ): ReturnType<typeof fetch> => {
    const dispatcher = proxyFor(input, proxy) === undefined ? direct : through;
    return fetch(input, { ...init, dispatcher });
  };
  return fetchIt as typeof globalThis.fetch;
}
