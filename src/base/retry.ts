import { type Clock, throwIfAborted } from './clock.ts';
import { MirrorError, isAbort } from './errors.ts';

/** When and how long to wait between tries. */
export interface RetryPolicy {
  /** The number of tries, including the first. */
  attempts: number;
  /** Upper bound of the first wait. */
  baseDelayMs: number;
  /** Upper bound of every wait that the server did not ask for. */
  maxDelayMs: number;
}

/** Six tries over roughly half a minute: outlasts a restart of the other side, not an outage. */
export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  baseDelayMs: 250,
  maxDelayMs: 15_000,
};

/**
 * Milliseconds to wait before try `attempt + 1` (`attempt` counts from 1). Exponential, half of it random, so never near 0. A
 * server's `Retry-After` is the minimum; the rest is added to it, so that clients do not return at the same time. A whole number.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  random: () => number,
  serverDelayMs?: number,
): number {
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  return Math.round((serverDelayMs ?? 0) + (0.5 + random() / 2) * ceiling);
}

/** A longer `Retry-After` is shortened to this. */
const LONGEST_MS = 120_000;

/** `Retry-After` as milliseconds from `nowMs`: whole seconds or an HTTP date (RFC 9110, 10.2.3); undefined for anything else. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const isNumber = /^\d+(\.\d+)?$/.test(text);
  const ms = isNumber ? Math.ceil(Number(text) * 1000) : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_MS);
}

/** What to do about a failed try. */
export interface RetryDecision {
  retry: boolean;
  /** The wait that the server asked for, if any. */
  serverDelayMs?: number | undefined;
}

/** How {@link withRetry} tries. */
export interface RetryOptions {
  policy: RetryPolicy;
  clock: Clock;
  random?: () => number;
  signal?: AbortSignal | undefined;
  /** Decides about an error. Default: a `retryable` error is tried again. Never called for a cancellation, which is not retried. */
  decide?: (error: unknown) => RetryDecision;
  /** Called before each wait. `attempt`: the try that failed, from 1. */
  onRetry?: (notice: { attempt: number; delayMs: number; error: unknown }) => void;
}

/** The only retry loop of this program. Rejects with the last error, or with CANCELLED when the signal aborts a wait. */
export async function withRetry<T>(
  work: (attempt: number) => Promise<T>,
  { policy, clock, random = Math.random, signal, decide = isRetryable, onRetry }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    throwIfAborted(signal);
    try {
      return await work(attempt);
    } catch (error) {
      if (isAbort(error) || signal?.aborted) throw error;
      const { retry, serverDelayMs } = decide(error);
      if (!retry || attempt >= policy.attempts) throw error;
      const delayMs = retryDelayMs(policy, attempt, random, serverDelayMs);
      onRetry?.({ attempt, delayMs, error });
      await clock.sleep(delayMs, signal);
    }
  }
}

const isRetryable = (error: unknown): RetryDecision => ({
  retry: error instanceof MirrorError && error.retryable,
});
