import type { Clock } from '../base/clock.ts';
import { type MirrorError, toMirrorError } from '../base/errors.ts';
import { withinTime } from './time-limit.ts';

/** What {@link SlowReading} needs. */
export interface SlowReadingOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** A reading that takes longer counts as failed with this. */
  readonly limitMs: number;
  readonly tooSlow: () => MirrorError;
  /** Least time between two readings, of what costs something each time. */
  readonly restMs: (value: T) => number;
}

/** No reading takes more than this part of the time. */
const MOST_OF_THE_TIME = 1 / 20;
const MAX_REST_MS = 60_000;

/**
 * Something that is read now and then, may be slow or hang, and whose last value is good enough meanwhile. At most one
 * reading is under way at a time, whoever asks, even one that never ends.
 */
export class SlowReading<T> {
  readonly #options: SlowReadingOptions<T>;
  #value: T | null = null;
  #readAtMs = 0;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #failure: MirrorError | null = null;
  #failures = 0;
  #underWay: Promise<void> | undefined;
  /** What `read` has not answered yet; outlives its limit. */
  #pending: Promise<T> | undefined;

  constructor(options: SlowReadingOptions<T>) {
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

  /** The value is known to be outdated: the next {@link refresh} reads, whatever its age. */
  expire(): void {
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
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
    const { clock, restMs } = this.#options;
    const startedMs = clock.now();
    this.#triedAtMs = startedMs;
    try {
      const value = await this.#inTime();
      this.#value = value;
      this.#readAtMs = clock.now();
      this.#failure = null;
      this.#failures = 0;
      const tookMs = this.#readAtMs - startedMs;
      const rest = Math.max(restMs(value), Math.min(MAX_REST_MS, tookMs / MOST_OF_THE_TIME));
      this.#restUntilMs = this.#readAtMs + rest;
    } catch (error) {
      this.#failure = toMirrorError(error);
      this.#failures++;
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
