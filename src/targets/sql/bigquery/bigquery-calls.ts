import { bigquery, type bigquery_v2 } from 'googleapis/build/src/apis/bigquery/index.js';
import { type Clock, throwIfAborted } from '../../../base/clock.ts';
import {
  parseRetryAfter,
  type RetryDecision,
  type RetryNotice,
  type RetryPolicy,
  withRetry,
} from '../../../base/retry.ts';
import type { GoogleAccount } from '../../google/credentials.ts';
import {
  BigQueryError,
  type BigQueryFault,
  damagedAnswer,
  toBigQueryError,
} from './bigquery-errors.ts';

/** Some two minutes: outlasts a table that others change, not an outage. */
export const BIGQUERY_RETRY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 32_000,
  maxServerDelayMs: 60_000,
};

/** How long BigQuery waits for a job before it answers that it goes on. */
export const JOB_WAIT_MS = 25_000;
/** Of any call: more than it waits. */
const CALL_TIMEOUT_MS = 90_000;
/** Of a call that waits for no job, and for which a person may wait. */
export const SHORT_CALL_MS = 30_000;
/** Without an answer for so long a call is told of: no job is waited for that long. */
const SILENT_MS = 40_000;
/** Of a call after one of its kind that nothing answered: more than BigQuery waits for a job, and less than we do else. */
const AFTER_SILENCE_MS = 45_000;
/** As often a call is made that nothing answers. */
const MOST_SILENT = 2;

export interface CallsOptions {
  readonly project: string;
  readonly dataset: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  /** With a trailing slash; Google's own when absent. */
  readonly rootUrl?: string | undefined;
  readonly random?: (() => number) | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Called when a call has had no answer for so long; it goes on waiting. */
  readonly onSilence?: ((silentMs: number) => void) | undefined;
  /** For tests: how long calls are waited for, and after what time they are told of. */
  readonly patience?: { readonly timeoutMs: number; readonly silentMs: number } | undefined;
  /** Called with what failed, before it is tried again. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** What Google's client takes with each call. */
export interface CallOptions {
  readonly retry: false;
  readonly timeout: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

type Call<T> = (client: bigquery_v2.Bigquery, options: CallOptions) => Promise<{ data: T }>;

/** How a call is made. */
export interface CallHow {
  /** It changes something; for messages, and for what an answer that is lost means. */
  readonly writes?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** How long it is waited for. */
  readonly timeoutMs?: number;
  /** It asks for a job: others may be answered while these are not. */
  readonly isJob?: boolean;
}

/** After these the same call is harmless, and may help. */
const PASSING: ReadonlySet<BigQueryFault> = new Set(['throttled', 'unreachable', 'unclear']);

/** Single calls of the BigQuery API, with timeouts and repetitions of our own. Throws BigQueryError and CANCELLED. */
export class BigQueryCalls {
  readonly options: CallsOptions;
  readonly #client: bigquery_v2.Bigquery;
  /** Since when no job, or nothing else, has been answered: the end of the first call that was waited for in vain. */
  readonly #silentSinceMs = new Map<'job' | 'other', number>();

  constructor(options: CallsOptions) {
    this.options = options;
    // Of one class with what googleapis was built with; its declared type names three of the subclasses.
    const auth = options.account.auth as NonNullable<bigquery_v2.Options['auth']>;
    const { rootUrl } = options;
    this.#client = bigquery({ version: 'v2', auth, ...(rootUrl !== undefined && { rootUrl }) });
  }

  /** One call, once. */
  async once<T>(
    call: Call<T>,
    { writes = false, signal, timeoutMs = CALL_TIMEOUT_MS, isJob = false }: CallHow = {},
  ): Promise<T> {
    const { project, dataset, account, clock, patience } = this.options;
    const kind = isJob ? 'job' : 'other';
    const mostMs = this.#silentSinceMs.has(kind) ? AFTER_SILENCE_MS : CALL_TIMEOUT_MS;
    const options: CallOptions = {
      retry: false,
      timeout: patience?.timeoutMs ?? Math.min(timeoutMs, mostMs),
      ...(signal !== undefined && { signal }),
    };
    const silentMs = patience?.silentMs ?? SILENT_MS;
    const silence = setTimeout(() => this.options.onSilence?.(silentMs), silentMs);
    try {
      const { data } = await call(this.#client, options);
      this.#silentSinceMs.delete(kind);
      // A body that is no JSON, cut short or a gateway's, comes as text; one that is empty says that something was removed.
      if (typeof data === 'string' && data !== '') throw damagedAnswer(writes);
      return data;
    } catch (error) {
      // The reason of the stop, which what Google's client throws does not say.
      throwIfAborted(signal);
      const failure = toBigQueryError(error, { project, dataset, email: account.email, writes });
      const isLate = failure instanceof BigQueryError && failure.late;
      if (!isLate) this.#silentSinceMs.delete(kind);
      else if (!this.#silentSinceMs.has(kind)) this.#silentSinceMs.set(kind, clock.now());
      throw failure;
    } finally {
      clearTimeout(silence);
    }
  }

  /** A call that may be made any number of times, until it succeeds or what is wrong does not pass. */
  repeated<T>(call: Call<T>, how: CallHow = {}): Promise<T> {
    return this.retrying(
      () => this.once(call, how),
      how.signal,
      (fault) => PASSING.has(fault),
    );
  }

  /**
   * Our retry loop over `work`, as long as `again` says so of the fault. Silence is waited for twice at most, and once where it was
   * silent before: each try takes long, and the next pass tries again.
   */
  retrying<T>(
    work: (attempt: number) => Promise<T>,
    signal: AbortSignal | undefined,
    again: (fault: BigQueryFault, error: BigQueryError) => boolean,
  ): Promise<T> {
    const { clock, random, onRetry, retry = BIGQUERY_RETRY } = this.options;
    const startMs = clock.now();
    let silent = 0;
    const decide = (error: unknown): RetryDecision => {
      if (!(error instanceof BigQueryError)) return { retry: false };
      if (error.late) {
        silent += 1;
        const wasSilent = this.#silentSinceMs.values().some((sinceMs) => sinceMs < startMs);
        if (wasSilent || silent >= MOST_SILENT) return { retry: false };
      }
      const serverDelayMs = parseRetryAfter(error.retryAfter, clock.now());
      return { retry: again(error.fault, error), serverDelayMs };
    };
    return withRetry(work, {
      policy: retry,
      clock,
      signal,
      decide,
      onRetry,
      ...(random !== undefined && { random }),
    });
  }
}
