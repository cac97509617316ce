import { type Clock, withinTime } from '../base/clock.ts';
import { toMirrorError } from '../base/errors.ts';
import type { ProblemFacts } from './problem-facts.ts';

/** The most of the time that readings may take. */
const MOST_OF_THE_TIME = 1 / 20;
const MOST_REST_MS = 60_000;

type Failure = Pick<ProblemFacts, 'code' | 'message'>;

/** See {@link Reading}. */
export interface ReadingOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** A reading that takes longer has failed with `slow`. */
  readonly limitMs: number;
  readonly slow: Failure;
  /** The least time between two readings. */
  readonly restMs: number;
}

/** The last value, and whether the last try failed. */
export interface Latest<T> {
  /** The last value that was read; null if none ever was. */
  readonly value: T | null;
  /** When it was read; 0 for never. */
  readonly readAtMs: number;
  /** Why the last try failed, and since when all tries have; null if it did not fail. */
  readonly problem: ProblemFacts | null;
}

/** A value that is read from time to time. At most one reading is in progress; the last value stays until the next. */
export class Reading<T> {
  readonly #options: ReadingOptions<T>;
  #latest: Latest<T> = { value: null, readAtMs: 0, problem: null };
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #underWay: Promise<void> | undefined;
  /** The call of `read` in progress; it may outlive its limit. */
  #pending: Promise<T> | undefined;

  constructor(options: ReadingOptions<T>) {
    this.#options = options;
  }

  get latest(): Latest<T> {
    return this.#latest;
  }

  /** Makes the next {@link refresh} read, however old the value is. `atAnyCost`: even during its rest. */
  expire(atAnyCost: boolean): void {
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
    if (atAnyCost) this.#restUntilMs = 0;
  }

  /** Reads if the last try is older than `maxAgeMs` and the rest is over. Never rejects. */
  async refresh(maxAgeMs: number): Promise<void> {
    const now = this.#options.clock.now();
    if (this.#underWay === undefined) {
      // After a clock was set back, earlier readings must not count as fresh.
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
      const sinceMs = this.#latest.problem?.sinceMs ?? startedMs;
      this.#latest = { ...this.#latest, problem: { code, message, sinceMs } };
    };
    try {
      this.#pending ??= read().finally(() => (this.#pending = undefined));
      const found = this.#pending.then((value) => ({ value }));
      const inTime = await withinTime(found, limitMs, clock);
      if (inTime === undefined) return failed(slow);
      const readAtMs = clock.now();
      this.#latest = { value: inTime.value, readAtMs, problem: null };
      const leastMs = Math.min(MOST_REST_MS, (readAtMs - startedMs) / MOST_OF_THE_TIME);
      this.#restUntilMs = readAtMs + Math.max(restMs, leastMs);
    } catch (error) {
      failed(toMirrorError(error));
    }
  }
}
