import { type Clock, withinTime } from '../base/clock.ts';
import { type MirrorError, toMirrorError } from '../base/errors.ts';
import type { TargetContent, TargetFacts, TargetPlace } from './facts.ts';

/** A target that takes longer counts as not answering. */
const LIMIT_MS = 20_000;
/** The most of the time that readings may take. */
const MOST_OF_THE_TIME = 1 / 20;
const MOST_REST_MS = 60_000;

/** See {@link TargetReading}. */
export interface ReadingOptions {
  readonly place: TargetPlace;
  /** The content of the target. Rejects if it cannot be read. */
  readonly read: () => Promise<TargetContent>;
  readonly clock: Clock;
  /** The least time between two readings. */
  readonly restMs: number;
}

/** A target that is read from time to time. At most one reading is in progress; the last content stays until the next. */
export class TargetReading {
  readonly #options: ReadingOptions;
  #facts: TargetFacts;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #restUntilMs = 0;
  #underWay: Promise<void> | undefined;
  /** The call of `read` in progress; it may outlive its limit. */
  #pending: Promise<TargetContent> | undefined;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#facts = { ...options.place, value: null, readAtMs: 0, problem: null };
  }

  /** The latest reading. */
  get facts(): TargetFacts {
    return this.#facts;
  }

  /** Makes the next {@link refresh} read, however old the content is, and even during its rest. */
  expire(): void {
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
    this.#restUntilMs = 0;
  }

  /** Reads if the last try is older than `maxAgeMs` and the rest is over. Never rejects. */
  async refresh(maxAgeMs: number): Promise<void> {
    const now = this.#options.clock.now();
    if (this.#underWay === undefined) {
      // After a clock was set back, earlier readings must not count as fresh.
      if (now < this.#triedAtMs) this.expire();
      if (now - this.#triedAtMs < maxAgeMs || now < this.#restUntilMs) return;
      this.#underWay = this.#read().finally(() => (this.#underWay = undefined));
    }
    await this.#underWay;
  }

  async #read(): Promise<void> {
    const { place, clock, restMs, read } = this.#options;
    const startedMs = clock.now();
    this.#triedAtMs = startedMs;
    const failed = ({ code, message }: Pick<MirrorError, 'code' | 'message'>): void => {
      const sinceMs = this.#facts.problem?.sinceMs ?? startedMs;
      this.#facts = { ...this.#facts, problem: { code, message, sinceMs } };
    };
    try {
      this.#pending ??= read().finally(() => (this.#pending = undefined));
      const value = await withinTime(this.#pending, LIMIT_MS, clock);
      if (value === undefined) {
        const message = `Target ${place.name} takes longer than ${LIMIT_MS / 1_000} s to answer: it is very busy, or one of its tables is locked.`;
        return failed({ code: 'TARGET_UNREACHABLE', message });
      }
      const readAtMs = clock.now();
      this.#facts = { ...place, value, readAtMs, problem: null };
      const leastMs = Math.min(MOST_REST_MS, (readAtMs - startedMs) / MOST_OF_THE_TIME);
      this.#restUntilMs = readAtMs + Math.max(restMs, leastMs);
    } catch (error) {
      failed(toMirrorError(error));
    }
  }
}
