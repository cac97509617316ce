import { type Clock, systemClock, throwIfAborted } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import { DEFAULT_RETRY, parseRetryAfter, type RetryPolicy } from '../base/retry-delay.ts';
import { withRetry } from '../base/retry.ts';
import type { Json } from '../mirror/types.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { FormsApiError } from './errors.ts';
import { parseExactJson } from './exact-json.ts';
import type { FormsRequest } from './forms-request.ts';
import { RequestGate } from './request-gate.ts';
import { faultError, notJsonError, refusalError } from './request-failure.ts';
import { Wire, type WireAnswer } from './wire.ts';
import { WireFault } from './wire-fault.ts';

/** How to reach the Forms API. */
export interface FormsClientOptions {
  /** FORMS_API_URL; see {@link parseBaseUrl} for what it must be. */
  baseUrl: string;
  apiKey: string;
  /** In which header the key travels. */
  auth: 'bearer' | 'x-api-key';
  /** Most requests in flight, over all calls of this client. */
  concurrency: number;
  /** Longest wait for a connection, for headers, and for each next piece of a body. Default 30,000. */
  requestTimeoutMs?: number;
  retry?: RetryPolicy;
  clock?: Clock;
  random?: () => number;
  /** Told before each wait for another try. */
  onRetry?: (notice: FormsRetryNotice) => void;
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

/** What every call takes. */
export interface CallOptions {
  /** Aborting it rejects the call with CANCELLED, wherever it is. */
  signal?: AbortSignal | undefined;
  /** Called once for each HTTP request really sent, retries included. When it throws, nothing is sent and the call rejects with that. */
  onAttempt?: (() => void) | undefined;
  /** True: sends once and rejects with its failure, for a caller who has to look again before another try. */
  once?: boolean | undefined;
}

/** After a 401 every call fails at once for so long, without a request. */
const REFUSED_KEY_REST_MS = 45_000;

/** Calls to the Forms API with key, bounded concurrency, retries and the stop at 401; knows no endpoint. */
export class FormsHttp implements AsyncDisposable {
  readonly #base: BaseUrl;
  readonly #options: FormsClientOptions;
  readonly #clock: Clock;
  readonly #gate: RequestGate;
  readonly #wire: Wire;
  /** Aborted when nothing more may be sent; the reason is the error that every call gets. */
  #stop = new AbortController();
  /** When a refused key may be tried again; never after closing. */
  #opensAtMs = Infinity;

  /** Throws SETTINGS for an address, key or number that cannot work. */
  constructor(options: FormsClientOptions) {
    this.#base = parseBaseUrl(options.baseUrl);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#gate = new RequestGate(checkConcurrency(options.concurrency), this.#clock);
    this.#wire = new Wire({
      base: this.#base,
      headers: headersOf(options),
      connections: options.concurrency,
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    });
  }

  /** Sends until it has an answer of 2xx, and returns its JSON as `read` understands it. `read` returns undefined for what it does not. */
  async json<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (json: Json, answer: WireAnswer) => T | undefined,
  ): Promise<T> {
    return this.#call(request, call, (answer) => {
      const result = read(parseAnswer(request, answer), answer);
      if (result !== undefined) return result;
      throw notJsonError(request, answer, 'answered with JSON of another shape than documented');
    });
  }

  /** Sends until it has an answer of 2xx, whatever that holds. */
  async done(request: FormsRequest, call: CallOptions): Promise<void> {
    return this.#call(request, call, () => {});
  }

  /** Stops every call and closes every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#opensAtMs = Infinity;
    this.#stop.abort(new MirrorError('CANCELLED', 'The Forms API client was closed.'));
    await this.#wire.destroy();
  }

  async #call<T>(
    request: FormsRequest,
    call: CallOptions,
    read: (answer: WireAnswer) => T,
  ): Promise<T> {
    const stop = this.#open();
    using either = new EitherSignal(call.signal, stop);
    const policy = this.#options.retry ?? DEFAULT_RETRY;
    try {
      return await withRetry(async () => read(await this.#attempt(request, call, either.signal)), {
        policy: call.once === true ? { ...policy, attempts: 1 } : policy,
        clock: this.#clock,
        ...(this.#options.random === undefined ? {} : { random: this.#options.random }),
        signal: either.signal,
        judge: (error) =>
          error instanceof FormsApiError
            ? { retry: error.retryable, serverDelayMs: error.retryAfterMs }
            : { retry: false },
        onRetry: ({ attempt, delayMs, error }) => {
          const reason = error instanceof FormsApiError ? error.reason : 'failed';
          this.#options.onRetry?.({ request: request.name, attempt, delayMs, reason });
        },
      });
    } catch (error) {
      // The stop wins over what it caused: the first 401 speaks for every call.
      if (stop.aborted) throw stop.reason;
      throw error;
    }
  }

  /** What stops a call that begins now. A key that was refused is tried anew after a rest: it may have been restored. */
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
  ): Promise<WireAnswer> {
    const answer = await this.#gate.pass(signal, async () => {
      call.onAttempt?.();
      try {
        return await this.#wire.send(request, signal);
      } catch (error) {
        throwIfAborted(signal);
        throw error instanceof WireFault ? faultError(request, error) : error;
      }
    });
    throwIfAborted(signal);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw this.#refused(request, answer);
  }

  #refused(request: FormsRequest, answer: WireAnswer): FormsApiError {
    const { apiKey, auth, retry = DEFAULT_RETRY } = this.#options;
    const retryAfterMs = parseRetryAfter(answer.header('retry-after'), this.#clock.now());
    const error = refusalError(request, answer, { apiKey, auth, retryAfterMs, base: this.#base });
    if (answer.status === 401) this.#refuseKey(error);
    if (error.retryable && retryAfterMs !== undefined) {
      this.#gate.closeFor(Math.min(retryAfterMs, retry.maxServerDelayMs));
    }
    return error;
  }
}

function parseAnswer(request: FormsRequest, answer: WireAnswer): Json {
  try {
    return parseExactJson(answer.text);
  } catch {
    // The parser's message quotes the text around the fault, so it goes no further.
    throw notJsonError(request, answer);
  }
}

/** The caller's signal or the client's, as one. Let go when the call ends: AbortSignal.any would grow with each call. */
class EitherSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];

  constructor(...sources: (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) {
      source.addEventListener('abort', this.#abort);
      if (source.aborted) this.#abort();
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort();
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
