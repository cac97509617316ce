import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { LinkedSignal } from '../base/clock.ts';
import { proxyFor, type ProxySettings } from '../base/proxy.ts';
import { throughProxy } from '../base/proxy-dispatcher.ts';
import type { BaseUrl } from './base-url.ts';
import { mayBeRounded } from './exact-json.ts';
import { toTransportFailure, type TransportFailure } from './transport-failure.ts';

/** One HTTP request below the base address. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Path and query, encoded, below the base address. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Sends it on a connection of its own, which no server can have closed a moment ago. */
  readonly ownConnection?: boolean;
  /** False: a success needs no body, so that nothing about its body can turn it into a failure. */
  readonly readsBody: boolean;
}

/** An HTTP response, read whole. */
export interface HttpResponse {
  readonly status: number;
  /** A header's first value, by lower-case name. */
  header(name: string): string | undefined;
  /** The body as UTF-8; of an error as much of it as came. */
  readonly text: string;
  /** What {@link mayBeRounded} says of the body; true for an error, whose body nobody looked at. */
  readonly roundsAny: boolean;
}

/** How to reach the server. */
export interface TransportOptions {
  base: BaseUrl;
  /** The proxy of this machine's network; used where it leads to the server. */
  proxy?: ProxySettings | undefined;
  /** Sent with every request; the key is among them. */
  headers: Readonly<Record<string, string>>;
  /** Most connections at a time. */
  connections: number;
  /** Longest wait for a connection, for the headers, and for each next piece of the body. */
  requestTimeoutMs: number;
  /** After how long without an answer a request counts as silent. */
  silenceMs: number;
}

/** Largest body we take, packed or not: a page of 100 submissions is far smaller, even with pictures among the answers. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Enough of an error's body for its field messages. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_CONNECT_TIMEOUT_MS = 10_000;
const JSON_BODY = { 'content-type': 'application/json' };

const unzip = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzip);

/** HTTP to one origin over kept-alive connections, through a proxy where there is one: sends, never repeats, never follows a redirect. */
export class HttpTransport {
  readonly #options: TransportOptions;
  readonly #pool: Dispatcher;
  readonly #ownConnections: Dispatcher;
  readonly #proxy: ProxySettings | undefined;

  constructor(options: TransportOptions) {
    const { base, connections, requestTimeoutMs } = options;
    this.#options = options;
    const shared: Pool.Options = {
      connections,
      // RequestTimeout keeps the time: undici's own timeouts are coarse, and blind to a body that trickles for ever.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_BODY_BYTES,
      // One request a connection: a broken one costs one request, not all that share it.
      allowH2: false,
    };
    const proxy = proxyFor(base.origin, options.proxy);
    const connectTimeoutMs = Math.min(MAX_CONNECT_TIMEOUT_MS, requestTimeoutMs);
    const open = (pipelining: 0 | 1): Dispatcher =>
      proxy === undefined
        ? new Pool(base.origin, { ...shared, pipelining, connect: { timeout: connectTimeoutMs } })
        : throughProxy(proxy, { ...shared, pipelining, connectTimeoutMs });
    this.#proxy = proxy;
    this.#pool = open(1);
    this.#ownConnections = open(0);
  }

  /**
   * Sends once. Rejects with a {@link TransportFailure}, also when `signal` aborts. `onSilence` is called when the headers
   * have not come after `silenceMs`.
   */
  async send(
    request: HttpRequest,
    signal: AbortSignal,
    onSilence: (silentMs: number) => void,
  ): Promise<HttpResponse> {
    const { requestTimeoutMs, silenceMs } = this.#options;
    using timeout = new RequestTimeout(signal, requestTimeoutMs, {
      afterMs: silenceMs,
      call: () => onSilence(silenceMs),
    });
    const exchange = new Exchange(timeout);
    try {
      await exchange.run(this.#poolFor(request), {
        origin: this.#options.base.origin,
        method: request.method,
        path: this.#options.base.path + request.path,
        headers: { ...this.#options.headers, ...(request.body === undefined ? {} : JSON_BODY) },
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      return { ...(exchange.head as ResponseHead), ...(await exchange.body()) };
    } catch (error) {
      const { head } = exchange;
      if (head === undefined) throw this.#failure(error, false);
      // An error counts by its status, and a success without use for its body is one, whatever became of the body.
      if (!isSuccess(head.status) || !request.readsBody)
        return { ...head, text: '', roundsAny: true };
      throw this.#failure(error, true);
    }
  }

  /** Breaks off what is in flight and closes every connection. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#ownConnections.destroy()]);
  }

  #poolFor(request: HttpRequest): Dispatcher {
    return request.ownConnection === true ? this.#ownConnections : this.#pool;
  }

  #failure(error: unknown, inBody: boolean): TransportFailure {
    return toTransportFailure(error, {
      base: this.#options.base,
      proxy: this.#proxy,
      timeoutMs: this.#options.requestTimeoutMs,
      inBody,
    });
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

type ResponseBody = Pick<HttpResponse, 'text' | 'roundsAny'>;
type ResponseHead = Omit<HttpResponse, keyof ResponseBody>;
type ResponseHeaders = Dispatcher.ResponseData['headers'];

/**
 * One request, and what comes in answer: the whole body, or of an error as much as a message can need. A handler of
 * undici's own events, because a stream for each body costs as much as all the rest of a request.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #timeout: RequestTimeout;
  readonly #done = Promise.withResolvers<void>();
  #controller: Dispatcher.DispatchController | undefined;
  #headers: ResponseHeaders = {};
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Undefined until the headers have come. */
  head: ResponseHead | undefined;

  constructor(timeout: RequestTimeout) {
    this.#timeout = timeout;
  }

  /** Sends, and resolves when the body has come. Rejects with undici's error, or with the reason of the timeout's signal. */
  async run(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<void> {
    const { signal } = this.#timeout;
    const abort = (): void => this.#breakOff(signal.reason as Error);
    signal.addEventListener('abort', abort);
    try {
      if (signal.aborted) throw signal.reason;
      dispatcher.dispatch(request, this);
      await this.#done.promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** What came. */
  async body(): Promise<ResponseBody> {
    const encoding = String(this.#headers['content-encoding'] ?? '').trim();
    if (!/^(x-)?gzip$/i.test(encoding)) return decoded(this.#chunks, this.#bytes);
    const maxOutputLength = this.#isWhole ? MAX_BODY_BYTES : MAX_ERROR_BYTES;
    const body = await unzip(Buffer.concat(this.#chunks), { maxOutputLength });
    return decoded([body], body.length);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal } = this.#timeout;
    if (signal.aborted) controller.abort(signal.reason as Error);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    // Early hints and the like: the response is still to come.
    if (status < 200) return;
    this.#headers = headers;
    this.head = {
      status,
      header: (name) => {
        const value = headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
    };
    this.#timeout.beginBody();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#timeout.renew(chunk.length);
    if (!this.#isWhole && this.#bytes > MAX_ERROR_BYTES) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#isWhole || this.#bytes <= MAX_ERROR_BYTES) return;
    this.#breakOff(new Error('the rest of this body is of no use'));
    this.#done.resolve();
  }

  onResponseEnd(): void {
    this.#done.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#done.reject(error);
  }

  /** False: as much as a message can need is enough. */
  get #isWhole(): boolean {
    return this.head !== undefined && isSuccess(this.head.status);
  }

  /** Not from within one of undici's events, which go on with the connection. */
  #breakOff(reason: Error): void {
    queueMicrotask(() => this.#controller?.abort(reason));
  }
}

/**
 * Where bodies are put together. Kept, as copies of pages would pile up outside of the heap, where nothing hurries to free
 * them; larger ones than usual pages get a copy of their own.
 */
const place = Buffer.allocUnsafeSlow(512 * 1024);

const BYTE_ORDER_MARK = '\uFEFF';
const BOM_BYTES = 3;

/** As UTF-8. Not fatal: one broken byte in one answer must not hold up a page. */
function decoded(chunks: readonly Uint8Array[], bytes: number): ResponseBody {
  const body = bytes <= place.length ? place : Buffer.allocUnsafeSlow(bytes);
  let end = 0;
  for (const chunk of chunks) {
    body.set(chunk, end);
    end += chunk.length;
  }
  // In one piece: a text that is put together of several is slower to look through.
  const text = body.toString('utf8', 0, end);
  if (!text.startsWith(BYTE_ORDER_MARK)) {
    return { text, roundsAny: mayBeRounded(body.subarray(0, end)) };
  }
  return { text: text.slice(1), roundsAny: mayBeRounded(body.subarray(BOM_BYTES, end)) };
}

/** Whatever comes, after this many times the timeout it is given up. */
const MAX_TIMEOUTS = 10;
/**
 * A body that trickles is never idle. So it has the timeout to come, and as much longer as so slow a line takes for what has
 * come: a large page on a slow line passes, a byte now and then does not.
 */
const SLOWEST_BYTES_PER_MS = 1;

/**
 * One request's signal: aborts with the caller's, when nothing came for `timeoutMs`, when a body comes too slowly, and after
 * ten times `timeoutMs` in all.
 */
class RequestTimeout implements Disposable {
  readonly #linked: LinkedSignal;
  readonly #timeoutMs: number;
  readonly #idle: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout;
  #bodySinceMs = 0;
  #bytes = 0;

  constructor(
    caller: AbortSignal,
    timeoutMs: number,
    silence: { readonly afterMs: number; readonly call: () => void },
  ) {
    this.#timeoutMs = timeoutMs;
    this.#linked = new LinkedSignal(caller);
    this.#idle = setTimeout(() => this.#abort('IDLE_TIMEOUT'), timeoutMs);
    this.#total = setTimeout(() => this.#abort('TOTAL_TIMEOUT'), timeoutMs * MAX_TIMEOUTS);
    this.#silence = setTimeout(silence.call, silence.afterMs);
  }

  get signal(): AbortSignal {
    return this.#linked.signal;
  }

  /** The headers have come. */
  beginBody(): void {
    clearTimeout(this.#silence);
    this.#idle.refresh();
    this.#bodySinceMs = performance.now();
  }

  /** So many bytes of the body came: the time without anything starts again. */
  renew(bytes: number): void {
    this.#idle.refresh();
    this.#bytes += bytes;
    const allowedMs = this.#timeoutMs + this.#bytes / SLOWEST_BYTES_PER_MS;
    if (performance.now() - this.#bodySinceMs > allowedMs) this.#abort('TOTAL_TIMEOUT');
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#total);
    clearTimeout(this.#silence);
    this.#linked[Symbol.dispose]();
  }

  #abort(code: 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT'): void {
    this.#linked.abort(Object.assign(new Error(code), { code }));
  }
}
