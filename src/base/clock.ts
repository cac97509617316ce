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

/**
 * Waits at most `ms` for `work`: resolves to its value, or to undefined when it takes longer; rejects as it does. Work
 * that is late runs on: its end, good or bad, is ignored. No timer outlives the wait.
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

/**
 * A signal that aborts with any of several others, and by itself. Dispose it when the work is over: it then lets go of
 * the others. `AbortSignal.any` never does while one of them lives, which costs a kilobyte for each request of a process
 * that runs for months.
 */
export class LinkedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];

  constructor(...sources: (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) {
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.#follow);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (event: Event): void => this.abort((event.target as AbortSignal).reason);
}
