import { type Clock, throwIfAborted } from '../base/clock.ts';

/** How a process paces its requests. */
export interface PacingOptions {
  /** Most requests in flight. */
  readonly concurrency: number;
  /** FORMS_API_RATE; null: no limit. */
  readonly perMinute: number | null;
  readonly clock: Clock;
}

const MINUTE_MS = 60_000;
/** Requests may catch up so much after a rest. */
const CATCH_UP_MS = 1_000;
/** A request may take so much longer than another to arrive, and still no minute at the source holds too many. */
const ARRIVAL_MS = 1_000;
/** The longest wait for a turn: where the clock was set back, no request waits until it catches up. */
const LONGEST_MS = 2 * MINUTE_MS;

/**
 * When this process may send a request: a bounded number at a time, first come first served; evenly spaced where there is a rate; and
 * none during a pause that the source asked for, as it would only get the same response.
 */
export class Pacing {
  readonly #clock: Clock;
  /** Evenly spaced like this, no minute holds more requests than it may, however they catch up. */
  readonly #distanceMs: number;
  readonly #waiting = new Set<() => void>();
  #free: number;
  /** The next request is sent no earlier. */
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor({ concurrency, perMinute, clock }: PacingOptions) {
    this.#clock = clock;
    this.#free = concurrency;
    this.#distanceMs = perMinute === null ? 0 : (MINUTE_MS + CATCH_UP_MS + ARRIVAL_MS) / perMinute;
  }

  /** Runs `work`, which sends one request, when it may. Rejects with CANCELLED when `signal` aborts first. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal);
    try {
      await this.#turn(signal);
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Sends no request for `delayMs` from now; running ones continue. */
  pauseFor(delayMs: number): void {
    this.#nextMs = Math.max(this.#nextMs, this.#clock.now() + delayMs);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      throwIfAborted(signal);
      const nowMs = this.#clock.now();
      this.#nextMs = Math.min(this.#nextMs, nowMs + LONGEST_MS);
      const waitMs = Math.ceil(this.#nextMs - nowMs);
      if (waitMs <= 0) break;
      await this.#clock.sleep(waitMs, signal);
    }
    this.#nextMs = Math.max(this.#nextMs, this.#clock.now() - CATCH_UP_MS) + this.#distanceMs;
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    while (this.#free === 0) {
      throwIfAborted(signal);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      const wake = (): void => resolve();
      signal.addEventListener('abort', wake, { once: true });
      await promise;
      // The signal outlives the request: that of a run sees thousands of them.
      signal.removeEventListener('abort', wake);
      this.#waiting.delete(resolve);
    }
    throwIfAborted(signal);
    this.#free--;
  }

  /** Wakes all, as the first in line may have been stopped; those that find no place wait on, in their order. */
  #release(): void {
    this.#free++;
    for (const wake of this.#waiting) wake();
  }
}
