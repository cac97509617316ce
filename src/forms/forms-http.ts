import { type Clock, LinkedSignal, systemClock, throwIfAborted } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { ProxySettings } from '../base/proxy.ts';
import { DEFAULT_RETRY, parseRetryAfter, type RetryPolicy, withRetry } from '../base/retry.ts';
import type { Json } from '../mirror/types.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { FormsApiError } from './errors.ts';
import { parseExactJson, TooDeepError } from './exact-json.ts';
import type { FormsRequest } from './forms-request.ts';
import { type HttpResponse, HttpTransport } from './http-transport.ts';
import { notJsonError, refusalError, tooMuchError, transportError } from './request-failure.ts';
import { RequestLimiter } from './request-limiter.ts';
import { RequestRate } from './request-rate.ts';
import { TransportFailure } from './transport-failure.ts';

/** How to reach the Forms API. */
export interface FormsClientOptions {
  /** FORMS_API_URL; see {@link parseBaseUrl} for what it must be. */
  baseUrl: string;
  apiKey: string;
  /** In which header the key travels. */
  auth: 'bearer' | 'x-api-key';
  /** Most requests in flight, over all calls of this client. */
  concurrency: number;
  /** How many requests a minute may be sent, retries included. Default: as many as there are, until the source answers 429. */
  rate?: RequestRate;
  /** Longest wait for a connection, for headers, and for each next piece of a body. Default 30,000. */
  requestTimeoutMs?: number;
  /** The proxy of this machine's network. */
  proxy?: ProxySettings | undefined;
  retry?: RetryPolicy;
  clock?: Clock;
  random?: () => number;
  /** Called when a request has had no answer for {@link silenceMs}; once for each try. */
  onSilence?: (notice: { readonly request: string; readonly silentMs: number }) => void;
  /** Default 10,000. */
  silenceMs?: number;
  /** Called before each wait for another try. */
  onRetry?: (notice: FormsRetryNotice) => void;
  /** Called when a request that was tried again has ended, whichever way. */
  onSettled?: (request: { readonly request: string }) => void;
  /** Called when a request that was sent has ended, whichever way: for figures. */
  onSent?: (sent: SentRequest) => void;
}

/** A request that was sent, retries being requests of their own. Numbers only: nothing tells what was asked for. */
export interface SentRequest {
  /** Of the response; null when none came whole. */
  readonly status: number | null;
  /** From sending it to the end of the response, or to the failure. */
  readonly ms: number;
  /** How long it waited before that: for others in flight, for its turn, for the time that the source had named. */
  readonly waitedMs: number;
  /** Requests that may be sent in a minute, as last known; null: as many as there are. */
  readonly perMinute: number | null;
}

/** A request that failed and will be tried again. */
export interface FormsRetryNotice {
  /** `GET /submissions?formId=…&page=3` */
  request: string;
  /** The try that failed, from 1. */
  attempt: number;
  delayMs: number;
  /** In a few words: `answered 503`. Holds no key and no answer. */
  reason: string;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborting it rejects the call with CANCELLED, wherever it is. */
  signal?: AbortSignal | undefined;
  /** Called once for each HTTP request really sent, retries included. When it throws, nothing is sent and the call rejects with that. */
  onAttempt?: (() => void) | undefined;
  /** True: sends once and rejects with its failure, for a caller who has to look again before another try. */
  once?: boolean | undefined;
}

/** A request without an answer for so long is worth record of: it may hang for the rest of its time, and again. */
const SILENCE_MS = 10_000;

/** For this long after a 401 every call fails at once, without a request. */
const REFUSED_KEY_REST_MS = 45_000;

/** Sends requests to the Forms API: authentication, bounded concurrency, retries, and the stop at 401. Knows no endpoint. */
export class FormsHttp implements AsyncDisposable {
  readonly #base: BaseUrl;
  readonly #options: FormsClientOptions;
  readonly #clock: Clock;
  readonly #limiter: RequestLimiter;
  readonly #rate: RequestRate;
  readonly #transport: HttpTransport;
  /** Aborted when nothing more may be sent; the reason is the error that every call gets. */
  #stop = new AbortController();
  /** When a refused key may be tried again; never after closing. */
  #opensAtMs = Infinity;

  /** Throws SETTINGS for an address, key or number that cannot work. */
  constructor(options: FormsClientOptions) {
    this.#base = parseBaseUrl(options.baseUrl);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#limiter = new RequestLimiter(checkConcurrency(options.concurrency), this.#clock);
    this.#rate = options.rate ?? new RequestRate({ perMinute: null, clock: this.#clock });
    this.#transport = new HttpTransport({
      base: this.#base,
      proxy: options.proxy,
      headers: headersOf(options),
      connections: options.concurrency,
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      silenceMs: options.silenceMs ?? SILENCE_MS,
    });
  }

  /** Sends until a response is 2xx, and returns what `read` makes of its JSON; `read` returns undefined for another shape. */
  async json<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (json: Json, response: HttpResponse) => T | undefined,
  ): Promise<T> {
    return this.#call(request, call, (response) => {
      const result = read(parseBody(request, response), response);
      if (result !== undefined) return result;
      throw notJsonError(request, response, 'answered with JSON of another shape than documented');
    });
  }

  /** Sends until a response is 2xx, whatever its body, unless `read` throws. */
  async done<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (response: HttpResponse) => T,
  ): Promise<T> {
    return this.#call(request, call, read);
  }

  /** Stops every call and closes every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#opensAtMs = Infinity;
    this.#stop.abort(new MirrorError('CANCELLED', 'The Forms API client was closed.'));
    await this.#transport.destroy();
  }

  async #call<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (response: HttpResponse) => T,
  ): Promise<T> {
    const stop = this.#open();
    using stopped = new LinkedSignal(call.signal, stop);
    const policy = this.#options.retry ?? DEFAULT_RETRY;
    let wasAnnounced = false;
    const onSilence = (silentMs: number): void => {
      wasAnnounced = true;
      this.#options.onSilence?.({ request: request.name, silentMs });
    };
    const attempt = (): Promise<HttpResponse> =>
      this.#attempt(request, call, stopped.signal, onSilence);
    try {
      return await withRetry(async () => read(await attempt()), {
        policy: call.once === true ? { ...policy, attempts: 1 } : policy,
        clock: this.#clock,
        ...(this.#options.random === undefined ? {} : { random: this.#options.random }),
        signal: stopped.signal,
        decide: (error) =>
          error instanceof FormsApiError
            ? { retry: isWorthRepeating(error), serverDelayMs: error.retryAfterMs }
            : { retry: false },
        onRetry: ({ attempt, delayMs, error }) => {
          wasAnnounced = true;
          const reason = error instanceof FormsApiError ? error.reason : 'failed';
          this.#options.onRetry?.({ request: request.name, attempt, delayMs, reason });
        },
      });
    } catch (error) {
      // The stop wins over what it caused: the first 401 speaks for every call.
      if (stop.aborted) throw stop.reason;
      throw error;
    } finally {
      if (wasAnnounced) this.#options.onSettled?.({ request: request.name });
    }
  }

  /** The signal that stops a call that begins now. A refused key is tried again after a rest: it may have been restored. */
  #open(): AbortSignal {
    if (this.#stop.signal.aborted && this.#clock.now() >= this.#opensAtMs) {
      this.#stop = new AbortController();
      this.#opensAtMs = Infinity;
    }
    return this.#stop.signal;
  }

  #refuseKey(error: FormsApiError): void {
    if (this.#stop.signal.aborted) return;
    this.#opensAtMs = this.#clock.now() + REFUSED_KEY_REST_MS;
    this.#stop.abort(error);
  }

  async #attempt(
    request: FormsRequest,
    call: CallOptions,
    signal: AbortSignal,
    onSilence: (silentMs: number) => void,
  ): Promise<HttpResponse> {
    const askedMs = this.#clock.now();
    const response = await this.#limiter.run(signal, async () => {
      await this.#rate.turn(signal);
      call.onAttempt?.();
      const sentMs = this.#clock.now();
      const waitedMs = sentMs - askedMs;
      try {
        const answer = await this.#transport.send(request, signal, onSilence);
        this.#tellSent(answer.status, { sentMs, waitedMs });
        return answer;
      } catch (error) {
        throwIfAborted(signal);
        this.#tellSent(null, { sentMs, waitedMs });
        throw error instanceof TransportFailure ? transportError(request, error) : error;
      }
    });
    throwIfAborted(signal);
    if (response.status >= 200 && response.status < 300) return response;
    throw this.#refused(request, response);
  }

  /** A clock that was set back makes no time negative. */
  #tellSent(
    status: number | null,
    { sentMs, waitedMs }: { readonly sentMs: number; readonly waitedMs: number },
  ): void {
    const ms = Math.max(0, this.#clock.now() - sentMs);
    const { perMinute } = this.#rate;
    this.#options.onSent?.({ status, ms, waitedMs: Math.max(0, waitedMs), perMinute });
  }

  #refused(request: FormsRequest, response: HttpResponse): FormsApiError {
    const { apiKey, auth, retry = DEFAULT_RETRY } = this.#options;
    const retryAfterMs = parseRetryAfter(response.header('retry-after'), this.#clock.now());
    const error = refusalError(request, response, { apiKey, auth, retryAfterMs, base: this.#base });
    if (response.status === 401) this.#refuseKey(error);
    const pauseMs = Math.min(retryAfterMs ?? 0, retry.maxServerDelayMs);
    if (response.status === 429) this.#rate.refused(pauseMs);
    if (error.retryable && retryAfterMs !== undefined) this.#limiter.pauseFor(pauseMs);
    return error;
  }
}

/** What took minutes once takes as long again: half an hour for one request. It waits for the next pass. */
function isWorthRepeating({ retryable, cause }: FormsApiError): boolean {
  return retryable && !(cause instanceof TransportFailure && cause.code === 'TOTAL_TIMEOUT');
}

function parseBody(request: FormsRequest, response: HttpResponse): Json {
  try {
    return parseExactJson(response.text, response.roundsAny);
  } catch (error) {
    if (error instanceof TooDeepError) {
      throw tooMuchError(request, response, 'answered with JSON nested deeper than 100,000 levels');
    }
    // The parser's message quotes the text around the mistake, so it goes no further.
    throw notJsonError(request, response);
  }
}

function headersOf({ apiKey, auth }: FormsClientOptions): Record<string, string> {
  if (apiKey === '') throw new MirrorError('SETTINGS', 'FORMS_API_KEY is empty.');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new MirrorError(
      'SETTINGS',
      'FORMS_API_KEY holds a space, a line break or another character that no key has. Copy it again from the dashboard, without anything around it.',
    );
  }
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'forms-mirror',
    ...(auth === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey }),
  };
}

function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1) return concurrency;
  throw new MirrorError(
    'SETTINGS',
    'FORMS_API_CONCURRENCY must be a whole number from 1. Example: FORMS_API_CONCURRENCY=4',
  );
}
