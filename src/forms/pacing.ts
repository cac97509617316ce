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
/** How far requests may catch up after a pause. */
const CATCH_UP_MS = 1_000;
/** How much longer one request may take than another to arrive, so that no minute at the source has too many. */
const ARRIVAL_MS = 1_000;
/** The longest wait for a turn, in case the clock was set back. */
const LONGEST_MS = 2 * MINUTE_MS;

/**
 * Decides when this process may send a request: a limited number at the same time, first come, first served; evenly spaced if there
 * is a rate; and none during a pause that the source asked for, because it would only get the same response.
 */
export class Pacing {
  readonly #clock: Clock;
  /** With this spacing, no minute has more requests than allowed, even if they catch up. */
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

  /** Runs `work`, which sends one request, when it may be sent. Rejects with CANCELLED if `signal` aborts first. */
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
      // The signal outlives the request: a run's signal sees thousands of them.
      signal.removeEventListener('abort', wake);
      this.#waiting.delete(resolve);
    }
    throwIfAborted(signal);
    this.#free--;
  }

  /** Wakes all, because the first in line may have been stopped. Those without a place wait on, in their order. */
  #release(): void {
    this.#free++;
    for (const wake of this.#waiting) wake();
  }
}
