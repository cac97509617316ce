import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { type Clock, systemClock, throwIfAborted } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import { networkAgent, type ProxySettings } from '../base/proxy.ts';
import { DEFAULT_RETRY, parseRetryAfter, type RetryPolicy, withRetry } from '../base/retry.ts';
import type { Json } from '../mirror/types.ts';
import { parseBody } from './body.ts';
import { FormsApiError, refusalError, transportError, unusableError } from './errors.ts';
import { Pacing } from './pacing.ts';
import type { BaseUrl, FormsRequest, HttpResponse } from './request.ts';
import { type NamelessKey, namelessKeys } from './submission-item.ts';

/** How to connect to the Forms API, with the values of the settings. */
export interface FormsApiOptions {
  /** FORMS_API_URL. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The header that carries the key. */
  readonly auth: 'bearer' | 'x-api-key';
  /** Most requests in flight, over all calls. */
  readonly concurrency: number;
  /** The most requests per minute, including retries. Default: no limit. */
  readonly perMinute?: number | null;
  /** Longest wait for a connection, for headers, and for each next piece of a body. Default 30,000. */
  readonly requestTimeoutMs?: number;
  /** The proxy of this machine's network. */
  readonly proxy?: ProxySettings | undefined;
  readonly retry?: RetryPolicy;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly events?: Pick<Events<FormsEvents>, 'emit'>;
}

/** The events of a client. None contains a key or an answer. */
export interface FormsEvents {
  /** A request was sent and has ended, successfully or not; each retry is a request of its own. Numbers only, no address or content. */
  'forms.sent': {
    /** The status of the response; null without a complete one. */
    readonly status: number | null;
    /** From sending it to the end of the response, or to the failure. */
    readonly ms: number;
    /** How long it waited before that: for other requests, for its turn, for the time that the source had named. */
    readonly waitedMs: number;
  };
  /** A request failed and will be tried again. */
  'forms.retry': {
    /** `GET /submissions?formId=…&page=3` */
    readonly request: string;
    /** The try that failed, from 1. */
    readonly attempt: number;
    readonly delayMs: number;
    /** In a few words: `answered 503`. */
    readonly reason: string;
  };
}

/** Options of every call. */
export interface CallOptions {
  /** Aborting it rejects the call with CANCELLED at any point. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called once for each HTTP request that is sent, including retries. If it throws, nothing is sent and the call rejects with that
   * error.
   */
  readonly onAttempt?: (() => void) | undefined;
  /** True: sends once and rejects with its failure, for a caller that must check something before another try. */
  readonly once?: boolean | undefined;
}

const TIMEOUT_MS = 30_000;
/** The pause after a 429 that names none. With all tries of a request, the pauses outlast a limit per minute. */
const THROTTLED_MS = 15_000;
const MAX_CONNECT_TIMEOUT_MS = 10_000;
/** A body that trickles is never idle. After this many times the timeout it is abandoned, and not requested again in the same run. */
const MAX_TIMEOUTS = 4;
/** The largest body, compressed or not. A page of 100 submissions is far smaller, even with pictures among the answers. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

const unzip = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

/** Sends requests to the Forms API: authentication, pacing and retries. Follows no redirects and knows no endpoints. */
export class FormsHttp implements AsyncDisposable {
  /** Most requests in flight. */
  readonly concurrency: number;
  /** Names items without an ID. */
  readonly nameless: NamelessKey;
  readonly #base: BaseUrl;
  readonly #options: FormsApiOptions;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #pacing: Pacing;
  readonly #agent: Dispatcher;
  readonly #closing = new AbortController();

  constructor(options: FormsApiOptions) {
    const { concurrency, perMinute = null, clock = systemClock } = options;
    this.concurrency = concurrency;
    this.nameless = namelessKeys(options.apiKey);
    const { origin, host, pathname } = new URL(options.baseUrl);
    this.#base = { origin, host, path: pathname.replace(/\/+$/, '') };
    this.#headers = headersOf(options);
    this.#options = options;
    this.#clock = clock;
    this.#timeoutMs = options.requestTimeoutMs ?? TIMEOUT_MS;
    this.#pacing = new Pacing({ concurrency, perMinute, clock });
    this.#agent = networkAgent(options.proxy, {
      connectTimeoutMs: Math.min(MAX_CONNECT_TIMEOUT_MS, this.#timeoutMs),
      connections: concurrency,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      maxResponseSize: MAX_BODY_BYTES,
      // One request per connection: a broken one costs one request, not all that share it.
      allowH2: false,
    });
  }

  /** Sends until a response is 2xx, and returns the result of `read` for its JSON. `read` returns undefined for another shape. */
  async json<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (json: Json, response: HttpResponse) => T | undefined,
  ): Promise<T> {
    return this.#call(request, call, (response) => {
      const result = read(jsonOf(request, response), response);
      if (result !== undefined) return result;
      throw unusableError(request, response, 'JSON of another shape than documented');
    });
  }

  /** Sends until a response is 2xx, with any body. */
  async done(request: FormsRequest, call: CallOptions): Promise<void> {
    return this.#call(request, call, () => {});
  }

  /** Stops every call and closes every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new MirrorError('CANCELLED', 'The Forms API client was closed.'));
    await this.#agent.destroy();
  }

  async #call<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (response: HttpResponse) => T,
  ): Promise<T> {
    const { retry = DEFAULT_RETRY, random, events } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, ...(call.signal ? [call.signal] : [])]);
    return await withRetry(async () => read(await this.#attempt(request, call, signal)), {
      policy: call.once === true ? { ...retry, attempts: 1 } : retry,
      clock: this.#clock,
      ...(random === undefined ? {} : { random }),
      signal,
      decide: (error) =>
        error instanceof FormsApiError
          ? { retry: error.retryable, serverDelayMs: error.retryAfterMs }
          : { retry: false },
      onRetry: ({ attempt, delayMs, error }) => {
        const reason = error instanceof FormsApiError ? error.reason : 'failed';
        events?.emit('forms.retry', { request: request.name, attempt, delayMs, reason });
      },
    });
  }

  async #attempt(
    request: FormsRequest,
    call: CallOptions,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const askedMs = this.#clock.now();
    const response = await this.#pacing.run(signal, async () => {
      call.onAttempt?.();
      const sentMs = this.#clock.now();
      let status: number | null = null;
      try {
        const answer = await this.#send(request, signal);
        ({ status } = answer);
        return answer;
      } finally {
        if (status !== null || !signal.aborted) {
          // No time becomes negative if the clock was set back.
          const ms = Math.max(0, this.#clock.now() - sentMs);
          const waitedMs = Math.max(0, sentMs - askedMs);
          this.#options.events?.emit('forms.sent', { status, ms, waitedMs });
        }
      }
    });
    throwIfAborted(signal);
    // At once: before the next request begins, it must be known that the source asks to wait.
    if (!isSuccess(response.status)) throw this.#refused(request, response);
    // undici sends the next request over a connection in the next turn of the event loop. Two turns let it do so before this page,
    // and others that arrived with it, are parsed.
    await nextTurn();
    await nextTurn();
    throwIfAborted(signal);
    return response;
  }

  async #send(request: FormsRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { proxy } = this.#options;
    const late = new AbortController();
    const total = setTimeout(
      () => late.abort(Object.assign(new Error('TOTAL_TIMEOUT'), { code: 'TOTAL_TIMEOUT' })),
      this.#timeoutMs * MAX_TIMEOUTS,
    );
    try {
      const options = {
        origin: this.#base.origin,
        method: request.method,
        path: this.#base.path + request.path,
        headers: this.#headers,
        ...(request.body !== undefined && {
          body: request.body,
          headers: { ...this.#headers, 'content-type': 'application/json' },
        }),
      };
      const { status, headers, body } = await exchange(
        this.#agent,
        options,
        AbortSignal.any([signal, late.signal]),
      );
      const isPacked = headers['content-encoding'] === 'gzip';
      const plain = isPacked ? await unzip(body, { maxOutputLength: MAX_BODY_BYTES }) : body;
      return { status, header: (name) => [headers[name]].flat()[0], body: plain };
    } catch (error) {
      throwIfAborted(signal);
      throw transportError(request, error, { base: this.#base, proxy });
    } finally {
      clearTimeout(total);
    }
  }

  #refused(request: FormsRequest, response: HttpResponse): FormsApiError {
    const retryAfterMs = parseRetryAfter(response.header('retry-after'), this.#clock.now());
    const error = refusalError(request, response, this.#options.auth, retryAfterMs);
    const askedMs = retryAfterMs ?? (response.status === 429 ? THROTTLED_MS : 0);
    if (error.retryable) this.#pacing.pauseFor(askedMs);
    return error;
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** A complete response. */
interface Received {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** Empty if it is not needed: an error counts by its status, and a successful change counts even if its body is broken. */
  readonly body: Buffer;
}

/** The most bytes of an unneeded body that are read, so that its connection can be used again. */
const MOST_DUMPED = 128 * 1_024;

/**
 * Sends one request. Uses undici's own events, because a stream per body takes as much time as parsing it. Rejects with undici's
 * error, or with the reason of the signal.
 */
function exchange(
  agent: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  let controller: Dispatcher.DispatchController | undefined;
  let head: Omit<Received, 'body'> | undefined;
  let [isNeeded, bytes] = [false, 0];
  const chunks: Buffer[] = [];
  const end = (): void => head && resolve({ ...head, body: Buffer.concat(chunks) });
  const abort = (): void => {
    controller?.abort(signal.reason as Error);
    // It may still wait for its connection.
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', abort);
  agent.dispatch(options, {
    onRequestStart(given) {
      controller = given;
      if (signal.aborted) abort();
    },
    onResponseStart(_controller, status, headers) {
      // Early hints and the like; the response is still to come.
      if (status < 200) return;
      head = { status, headers };
      isNeeded = isSuccess(status) && options.method === 'GET';
    },
    onResponseData(_controller, chunk) {
      bytes += chunk.length;
      if (isNeeded) chunks.push(chunk);
      else if (bytes > MOST_DUMPED) {
        end();
        // Not within this event, after which undici continues with the connection.
        queueMicrotask(() => controller?.abort(new Error('the rest of this body is not needed')));
      }
    },
    onResponseEnd: end,
    onResponseError(_controller, error) {
      if (isNeeded || head === undefined) reject(error);
      else end();
    },
  });
  // A signal with a listener stays in memory as long as its sources.
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

function jsonOf(request: FormsRequest, response: HttpResponse): Json {
  const { body } = response;
  try {
    return parseBody(body);
  } catch {
    // The parser's message quotes the text around the mistake, so it is dropped.
    const isHtml = /^\s*</.test(body.toString());
    throw unusableError(request, response, isHtml ? 'HTML, not JSON' : 'no whole JSON');
  }
}

const headersOf = ({ apiKey, auth }: FormsApiOptions): Record<string, string> => ({
  accept: 'application/json',
  'accept-encoding': 'gzip',
  'user-agent': 'forms-mirror',
  ...(auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
});
