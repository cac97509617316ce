import { type Clock, throwIfAborted } from './clock.ts';
import { isAbort } from './errors.ts';
import { type RetryPolicy, retryDelayMs } from './retry-delay.ts';

/** What a failed try tells the loop. */
export interface RetryVerdict {
  retry: boolean;
  /** The wait that the server asked for, if it did. */
  serverDelayMs?: number | undefined;
}

/** Told before each wait; for logs and metrics. */
export interface RetryNotice {
  /** The try that failed, from 1. */
  attempt: number;
  delayMs: number;
  error: unknown;
}

/** What {@link withRetry} needs. */
export interface RetryOptions {
  policy: RetryPolicy;
  clock: Clock;
  random?: () => number;
  signal?: AbortSignal | undefined;
  /** Decides about an error. Cancellation is never retried and does not reach it. */
  judge: (error: unknown) => RetryVerdict;
  onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** The only retry loop of this program. Rejects with the last error, or with CANCELLED when the signal aborts a wait. */
export async function withRetry<T>(
  work: (attempt: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(options.signal);
    try {
      return await work(attempt);
    } catch (error) {
      if (isAbort(error) || options.signal?.aborted) throw error;
      const verdict = options.judge(error);
      if (!verdict.retry || attempt >= options.policy.attempts) throw error;
      const delayMs = retryDelayMs(
        options.policy,
        attempt,
        options.random ?? Math.random,
        verdict.serverDelayMs,
      );
      options.onRetry?.({ attempt, delayMs, error });
      await options.clock.sleep(delayMs, options.signal);
    }
  }
}
