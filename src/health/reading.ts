import { type Clock, withinTime } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import type { Trouble } from './trouble.ts';

/** No reading takes more than this part of the time. */
const MOST_OF_THE_TIME = 1 / 20;
const MOST_REST_MS = 60_000;

type Failure = Pick<Trouble, 'code' | 'message'>;

/** See {@link Reading}. */
export interface ReadingOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** A reading that takes longer has failed with `slow`. */
  readonly limitMs: number;
  readonly slow: Failure;
  /** Least time between two readings. */
  readonly restMs: () => number;
}

/** A value that is read from time to time. At most one reading is in progress; the last value stays until the next. */
export class Reading<T> {
  readonly #options: ReadingOptions<T>;
  #value: T | null = null;
  #readAtMs = 0;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #trouble: Trouble | null = null;
  #underWay: Promise<void> | undefined;
  /** What `read` has not answered yet; outlives its limit. */
  #pending: Promise<T> | undefined;

  constructor(options: ReadingOptions<T>) {
    this.#options = options;
  }

  /** The last value that could be read; null when none ever could. */
  get value(): T | null {
    return this.#value;
  }

  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** Why the last try failed, since the first of several in a row; null when it did not. */
  get trouble(): Trouble | null {
    return this.#trouble;
  }

  /** The next {@link refresh} reads, at any age of the value; `atAnyCost`: also where it would rest. */
  expire(atAnyCost: boolean): void {
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
    if (atAnyCost) this.#restUntilMs = 0;
  }

  /** Reads when the last try is older than `maxAgeMs`, and not sooner than it can rest. Never rejects. */
  async refresh(maxAgeMs: number): Promise<void> {
    const now = this.#options.clock.now();
    if (this.#underWay === undefined) {
      // After a clock was set back, earlier readings must not pass for fresh.
      if (now < this.#triedAtMs) this.expire(true);
      if (now - this.#triedAtMs < maxAgeMs || now < this.#restUntilMs) return;
      this.#underWay = this.#read().finally(() => (this.#underWay = undefined));
    }
    await this.#underWay;
  }

  async #read(): Promise<void> {
    const { clock, restMs, read, limitMs, slow } = this.#options;
    const startedMs = clock.now();
    this.#triedAtMs = startedMs;
    const failed = ({ code, message }: Failure): void => {
      this.#trouble = { code, message, sinceMs: this.#trouble?.sinceMs ?? startedMs };
    };
    try {
      this.#pending ??= read().finally(() => (this.#pending = undefined));
      const found = this.#pending.then((value) => ({ value }));
      const inTime = await withinTime(found, limitMs, clock);
      if (inTime === undefined) return failed(slow);
      this.#value = inTime.value;
      this.#readAtMs = clock.now();
      this.#trouble = null;
      const tookMs = this.#readAtMs - startedMs;
      const rest = Math.max(restMs(), Math.min(MOST_REST_MS, tookMs / MOST_OF_THE_TIME));
      this.#restUntilMs = this.#readAtMs + rest;
    } catch (error) {
      failed(toMirrorError(error));
    }
  }
}
