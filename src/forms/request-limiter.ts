import { type Clock, throwIfAborted } from '../base/clock.ts';

/**
 * Runs a bounded number of requests at a time, first come first served, and starts none before the time that the server
 * named in `Retry-After`: the others would only get the same response.
 */
export class RequestLimiter {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free: number;
  #pausedUntilMs = 0;

  constructor(concurrency: number, clock: Clock) {
    this.#free = concurrency;
    this.#clock = clock;
  }

  /** Starts no request for `delayMs` from now; running ones go on. */
  pauseFor(delayMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.now() + delayMs);
  }

  /** Runs `work` as soon as a slot is free. Rejects with CANCELLED when `signal` aborts first. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal);
    try {
      // One wait, not a loop: should the pause have been extended meanwhile, the response to this request says so.
      const waitMs = this.#pausedUntilMs - this.#clock.now();
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      throwIfAborted(signal);
      return await work();
    } finally {
      this.#release();
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const wake = (): void => resolve();
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    // The signal outlives the request: that of a pass sees thousands of them.
    signal.removeEventListener('abort', wake);
    // Still in line: woken by the abort. No longer in line: a slot was handed over, and goes to the next if unwanted.
    if (this.#waiting.delete(resolve)) throwIfAborted(signal);
    if (signal.aborted) this.#release();
    throwIfAborted(signal);
  }

  /** Hands the slot to the first in line, or frees it. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
