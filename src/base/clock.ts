import { setTimeout as delay } from 'node:timers/promises';
import { stopReason } from './errors.ts';

/** Time as a parameter, so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch, as Date.now(). */
  now(): number;
  /** Waits `ms`, at most 24 days. Rejects with CANCELLED as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest time that a timer of Node can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(Math.min(ms, LONGEST_MS), undefined, signal ? { signal } : {});
    } catch (error) {
      throw stopReason(signal, error);
    }
  },
};

/** The clocks of two machines may differ by this much. */
const CLOCK_SLACK_MS = 2 * 60_000;

/** Whether a recorded time (ms since the epoch) is so far in the future that a clock was wrong, then or now. */
export const isAhead = (ms: number, nowMs: number): boolean => ms - nowMs > CLOCK_SLACK_MS;

/** Whether `ms` have passed since a recorded time. Also true for a time in the future, which a wrong clock recorded. */
export const hasPassed = (sinceMs: number, ms: number, nowMs: number): boolean =>
  sinceMs > nowMs || nowMs - sinceMs >= ms;

/** Throws if `signal` is aborted: its reason if that is a CANCELLED error, otherwise a new CANCELLED error. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw stopReason(signal);
}

/**
 * Waits at most `ms` for `work`. Resolves to its value, or to undefined if it takes longer; rejects as `work` does. Late work
 * continues, and its result or error is ignored. The timer ends with the wait.
 */
export async function withinTime<T>(
  work: Promise<T>,
  ms: number,
  clock: Clock,
): Promise<T | undefined> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => undefined,
  );
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
