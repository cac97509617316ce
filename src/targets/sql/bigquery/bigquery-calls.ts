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

export interface CallsOptions {
  readonly project: string;
  readonly dataset: string;
  readonly account: GoogleAccount;
  readonly clock: Clock;
  /** With a trailing slash; Google's own when absent. */
  readonly rootUrl?: string | undefined;
  readonly random?: (() => number) | undefined;
  readonly retry?: RetryPolicy | undefined;
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
}

/** After these the same call is harmless, and may help. */
const PASSING: ReadonlySet<BigQueryFault> = new Set(['throttled', 'unreachable', 'unclear']);

/** Single calls of the BigQuery API, with timeouts and repetitions of our own. Throws BigQueryError and CANCELLED. */
export class BigQueryCalls {
  readonly options: CallsOptions;
  readonly #client: bigquery_v2.Bigquery;

  constructor(options: CallsOptions) {
    this.options = options;
    // Of one class with what googleapis was built with; its declared type names three of the subclasses.
    const auth = options.account.auth as NonNullable<bigquery_v2.Options['auth']>;
    const { rootUrl } = options;
    this.#client = bigquery({ version: 'v2', auth, ...(rootUrl !== undefined && { rootUrl }) });
  }

  /** One call, once. */
  async once<T>(call: Call<T>, { writes = false, signal }: CallHow = {}): Promise<T> {
    const { project, dataset, account } = this.options;
    const options: CallOptions = {
      retry: false,
      timeout: CALL_TIMEOUT_MS,
      ...(signal !== undefined && { signal }),
    };
    try {
      const { data } = await call(this.#client, options);
      // A body that is no JSON, cut short or a gateway's, comes as text; one that is empty says that something was removed.
      if (typeof data === 'string' && data !== '') throw damagedAnswer(writes);
      return data;
    } catch (error) {
      // The reason of the stop, which what Google's client throws does not say.
      throwIfAborted(signal);
      throw toBigQueryError(error, { project, dataset, email: account.email, writes });
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

  /** Our retry loop over `work`, as long as `again` says so of the fault. */
  retrying<T>(
    work: (attempt: number) => Promise<T>,
    signal: AbortSignal | undefined,
    again: (fault: BigQueryFault, error: BigQueryError) => boolean,
  ): Promise<T> {
    const { clock, random, onRetry, retry = BIGQUERY_RETRY } = this.options;
    const decide = (error: unknown): RetryDecision => {
      if (!(error instanceof BigQueryError)) return { retry: false };
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
