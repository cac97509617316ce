import { type Clock, withinTime } from '../base/clock.ts';
import { type MirrorError, toMirrorError } from '../base/errors.ts';

/** See {@link CachedReading}. */
export interface CachedReadingOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** A reading that takes longer counts as failed with this. */
  readonly limitMs: number;
  readonly tooSlow: () => MirrorError;
  /** Least time between two readings, where each has a cost. */
  readonly restMs: (value: T) => number;
  /** False for a value that says that there is none: it is asked for again without a rest. */
  readonly isAnswer?: (value: T) => boolean;
}

/** No reading takes more than this part of the time. */
const MOST_OF_THE_TIME = 1 / 20;
const MAX_REST_MS = 60_000;

/**
 * A value that is read from time to time, slowly perhaps or never to the end; meanwhile the last one stands in. At most
 * one reading is under way at a time, whoever asks.
 */
export class CachedReading<T> {
  readonly #options: CachedReadingOptions<T>;
  #value: T | null = null;
  #readAtMs = 0;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #failure: MirrorError | null = null;
  #failures = 0;
  #failingSinceMs = 0;
  #underWay: Promise<void> | undefined;
  /** What `read` has not answered yet; outlives its limit. */
  #pending: Promise<T> | undefined;

  constructor(options: CachedReadingOptions<T>) {
    this.#options = options;
  }

  /** The last value that could be read; null when none ever could. */
  get value(): T | null {
    return this.#value;
  }

  /** When that was; 0 for never. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** Why the last try failed; null when it did not. */
  get failure(): MirrorError | null {
    return this.#failure;
  }

  /** How many tries in a row have failed. */
  get failures(): number {
    return this.#failures;
  }

  /** When the first of them began; 0 when the last try did not fail. */
  get failingSinceMs(): number {
    return this.#failingSinceMs;
  }

  /** The value is known to be outdated: the next {@link refresh} reads, whatever its age. */
  expire(): void {
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The same, and it is worth its cost: the next {@link refresh} does not wait for a rest to end. */
  expireAtOnce(): void {
    this.expire();
    this.#restUntilMs = 0;
  }

  /** Reads when the last try is older than `maxAgeMs`, and not sooner than it can rest. Never rejects; may take its limit. */
  async refresh(maxAgeMs: number): Promise<void> {
    const now = this.#options.clock.now();
    if (this.#underWay === undefined) {
      if (now - this.#triedAtMs < maxAgeMs || now < this.#restUntilMs) return;
      this.#underWay = this.#read().finally(() => (this.#underWay = undefined));
    }
    await this.#underWay;
  }

  async #read(): Promise<void> {
    const { clock, restMs, isAnswer } = this.#options;
    const startedMs = clock.now();
    this.#triedAtMs = startedMs;
    try {
      const value = await this.#inTime();
      this.#value = value;
      this.#readAtMs = clock.now();
      this.#failure = null;
      this.#failures = 0;
      this.#failingSinceMs = 0;
      const tookMs = this.#readAtMs - startedMs;
      const rest = Math.max(restMs(value), Math.min(MAX_REST_MS, tookMs / MOST_OF_THE_TIME));
      this.#restUntilMs = isAnswer?.(value) === false ? 0 : this.#readAtMs + rest;
    } catch (error) {
      this.#failure = toMirrorError(error);
      if (this.#failures++ === 0) this.#failingSinceMs = startedMs;
    }
  }

  async #inTime(): Promise<T> {
    const { clock, read, limitMs, tooSlow } = this.#options;
    this.#pending ??= read().finally(() => (this.#pending = undefined));
    const found = await withinTime(
      this.#pending.then((value) => ({ value })),
      limitMs,
      clock,
    );
    if (found === undefined) throw tooSlow();
    return found.value;
  }
}
