import { type Clock, throwIfAborted } from '../base/clock.ts';

/** The source answered 429. Never holds an answer or a key. */
export interface RateNotice {
  /** Requests that are sent in a minute from now on. */
  readonly perMinute: number;
}

/** How a process paces its requests. */
export interface PacingOptions {
  /** Most requests in flight. */
  readonly concurrency: number;
  /** FORMS_API_RATE; null: no limit, until the source answers 429. */
  readonly perMinute: number | null;
  readonly clock: Clock;
  /** Called when the rate is lowered: at most once in ten seconds. */
  readonly onNotice?: ((notice: RateNotice) => void) | undefined;
}

const MINUTE_MS = 60_000;
/** Requests may catch up so much after a rest. */
const CATCH_UP_MS = 1_000;
/** A request may take so much longer than another to arrive, and still no minute at the source holds too many. */
const ARRIVAL_MS = 1_000;

/** A 429 lowers the rate to a part of the rate that was sent, but not below this: a single 429 proves nothing lower. */
const LEAST_LOWERED = 60;
const LOWERED_TO = 0.5;
/** Refusals this soon after another belong to requests that were already sent. */
const SAME_REFUSAL_MS = 10_000;
/** From then on the rate rises by such steps, until it is as set, or, without a setting, far beyond the refused rate. */
const STEP_MS = 30_000;
const STEP = 1.25;
const RISES_BY = 8;
/** Sent requests are counted over about so long. */
const COUNTED_MS = 10_000;

/**
 * When this process may send a request: a bounded number at a time, first come first served; evenly spaced where there is a rate; and
 * none before the time that the source named in `Retry-After`, as it would only get the same response.
 */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #free: number;
  /** The next request is sent no earlier. */
  #nextMs = Number.NEGATIVE_INFINITY;
  /** The rate that the last 429 set, and when; null if there was none. */
  #lowered: { readonly perMinute: number; readonly atMs: number } | null = null;
  /** Requests sent lately: each counts less the longer ago it was. */
  #sent = 0;
  #sentMs = 0;
  /** The clock, when it was last read. */
  #seenMs = Number.NEGATIVE_INFINITY;

  constructor(options: PacingOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#free = options.concurrency;
  }

  /** Requests that may be sent in a minute now; null: as many as there are. */
  get perMinute(): number | null {
    const set = this.#options.perMinute;
    if (this.#lowered === null) return set;
    const { perMinute, atMs } = this.#lowered;
    const risen = perMinute * STEP ** Math.floor(Math.max(0, this.#clock.now() - atMs) / STEP_MS);
    return risen < (set ?? perMinute * RISES_BY) ? risen : set;
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
    this.#nextMs = Math.max(this.#nextMs, this.#now() + delayMs);
  }

  /** The source answered 429, and wants no requests for so long: lowers the rate to half of the real one. */
  refused(forMs: number): void {
    const nowMs = this.#now();
    const isNew = this.#lowered === null || nowMs - this.#lowered.atMs >= SAME_REFUSAL_MS;
    if (isNew) {
      const set = this.#options.perMinute ?? Infinity;
      const sent = this.#sentLately(nowMs) * (MINUTE_MS / COUNTED_MS);
      const refused = Math.min(sent, this.perMinute ?? sent);
      const perMinute = Math.max(Math.min(LEAST_LOWERED, set), refused * LOWERED_TO);
      this.#lowered = { perMinute, atMs: nowMs };
      this.#options.onNotice?.({ perMinute });
    }
    this.pauseFor(forMs);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      throwIfAborted(signal);
      const waitMs = Math.ceil(this.#nextMs - this.#now());
      if (waitMs <= 0) break;
      await this.#clock.sleep(waitMs, signal);
    }
    const nowMs = this.#now();
    const { perMinute } = this;
    // Evenly spaced like this, no minute holds more requests than it may, however they catch up.
    const distanceMs = perMinute === null ? 0 : (MINUTE_MS + CATCH_UP_MS + ARRIVAL_MS) / perMinute;
    this.#nextMs = Math.max(this.#nextMs, nowMs - CATCH_UP_MS) + distanceMs;
    this.#sent = this.#sentLately(nowMs) + 1;
    this.#sentMs = nowMs;
  }

  /** About as many as were sent within {@link COUNTED_MS}. */
  #sentLately(nowMs: number): number {
    return this.#sent * Math.exp(Math.min(0, this.#sentMs - nowMs) / COUNTED_MS);
  }

  /** The time. Where the clock was set back, so is the next turn: no request waits until it catches up. */
  #now(): number {
    const nowMs = this.#clock.now();
    if (nowMs < this.#seenMs) this.#nextMs -= this.#seenMs - nowMs;
    return (this.#seenMs = nowMs);
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
