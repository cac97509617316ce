import { type Clock, throwIfAborted } from '../base/clock.ts';

/**
 * Lets a bounded number of requests through at a time, in the order they came, and none before a time that the server
 * named in `Retry-After`: whoever else waits would only meet the same answer.
 */
export class RequestGate {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free: number;
  #closedUntilMs = 0;

  constructor(places: number, clock: Clock) {
    this.#free = places;
    this.#clock = clock;
  }

  /** Keeps the gate closed for `delayMs` from now; requests that are through already go on. */
  closeFor(delayMs: number): void {
    this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#clock.now() + delayMs);
  }

  /** Runs `work` when there is a place for it. Rejects with CANCELLED when `signal` aborts first. */
  async pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      // One wait, not a loop: should the time move on meanwhile, the answer to this request says so.
      const waitMs = this.#closedUntilMs - this.#clock.now();
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      throwIfAborted(signal);
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    // Still in line: woken by the abort. No longer in line: a place was handed over, and goes to the next if unwanted.
    if (this.#waiting.delete(resolve)) throwIfAborted(signal);
    if (signal.aborted) this.#leave();
    throwIfAborted(signal);
  }

  /** Hands the place to the first in line, or puts it back. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
