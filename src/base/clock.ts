import { setTimeout as delay } from 'node:timers/promises';
import { stopReason } from './errors.ts';

/** Time as a parameter, so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch, as Date.now(). */
  now(): number;
  /** Waits `ms`; rejects with CANCELLED as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw stopReason(signal, error);
    }
  },
};

/** Clocks of machines differ by so much at times. */
const CLOCK_SLACK_MS = 2 * 60_000;

/** True when a time that was recorded (ms since the epoch) lies so far after now that a clock must have been wrong: then, or now. */
export const isAhead = (ms: number, nowMs: number): boolean => ms - nowMs > CLOCK_SLACK_MS;

/** Throws CANCELLED when `signal` has been aborted: the reason that it was aborted with, where that is one. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw stopReason(signal);
}
