import { type Clock, throwIfAborted } from '../base/clock.ts';

/*
 * The rate at which one process sends requests. What is allowed is a row of slots, one request each, evenly spaced. A slot may
 * be used for some seconds after its time, so that a short rest is not lost, and no longer, or slots saved up would be used all
 * at once. The distance of slots allows for that: however they are used, no minute holds more requests than it may.
 *
 * A 429 lowers the rate to half of what was really sent, and moves the next slot to where `Retry-After` ends. From then on it
 * rises step by step, until it is as set, or, where none is set, far beyond what was refused.
 */

/** What is worth telling people. Never holds an answer or a key. */
export interface RateNotice {
  /** `turn`: a request waits long for its turn. `refused`: the source answered 429. */
  readonly what: 'turn' | 'refused';
  /** Requests that may be sent in a minute; null: as many as there are. */
  readonly perMinute: number | null;
  /** How long the request will have waited. */
  readonly waitMs: number;
}

/** How a process keeps a rate. */
export interface RequestRateOptions {
  /** FORMS_API_RATE; null: no limit, until the source answers 429. */
  readonly perMinute: number | null;
  readonly clock: Clock;
  readonly onNotice?: (notice: RateNotice) => void;
}

const MINUTE_MS = 60_000;
/** A slot may be used so long after its time. */
const SLOT_LASTS_MS = 5_000;
/** A request may take so much longer than another to arrive, and still no minute at the source holds too many. */
const ARRIVAL_MS = 1_000;

/** What a 429 lowers the rate to is a part of what was sent, but not less than this: one refusal is no proof of more. */
const LEAST_LOWERED = 60;
const LOWERED_TO = 0.5;
/** Refusals so soon after another speak of requests that were on the way by then. */
const SAME_REFUSAL_MS = 10_000;
const STEP_MS = 30_000;
const STEP = 1.25;
/** Where no rate is set: when the lowered one has grown so much, nothing is held back any more. */
const RISES_BY = 8;
/** Requests are counted in spans of this length. */
const COUNTED_MS = 10_000;

/** A wait from here on is worth a line; the same is not told more often than once a minute. */
const LONG_WAIT_MS = 10_000;
const TELL_EVERY_MS = 60_000;

/** The rate at which this process sends requests to the source. */
export class RequestRate {
  readonly #options: RequestRateOptions;
  readonly #clock: Clock;
  /** When the next slot that nobody has taken begins. */
  #nextMs = Number.NEGATIVE_INFINITY;
  /** Slots before it that were given back unused. */
  #returned: number[] = [];
  /** No slot begins before: the one after the last that was used, and where `Retry-After` ends. */
  #earliestMs = Number.NEGATIVE_INFINITY;
  /** How low the last 429 set the rate, and when; null: not at all. */
  #lowered: { readonly perMinute: number; readonly atMs: number } | null = null;
  /** Counts refusals: slots from before one are void. */
  #refusals = 0;
  /** Requests really sent: since `fromMs`, and in the ten seconds before. */
  #sent = { fromMs: Number.NEGATIVE_INFINITY, now: 0, before: 0 };
  readonly #toldMs = new Map<RateNotice['what'], number>();
  /** The clock, when it was last read. */
  #seenMs = Number.NEGATIVE_INFINITY;

  constructor(options: RequestRateOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Requests that may be sent in a minute now; null: as many as there are. */
  get perMinute(): number | null {
    const set = this.#options.perMinute;
    if (this.#lowered === null) return set;
    const { perMinute, atMs } = this.#lowered;
    const risen = perMinute * STEP ** Math.floor(Math.max(0, this.#clock.now() - atMs) / STEP_MS);
    return risen < (set ?? perMinute * RISES_BY) ? risen : set;
  }

  /** Resolves when one request may be sent, and counts it. Rejects with CANCELLED when `signal` aborts first. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      throwIfAborted(signal);
      const slotMs = this.#takeSlot();
      const refusals = this.#refusals;
      if (!(await this.#reached(slotMs, signal)) || refusals !== this.#refusals) continue;
      this.#earliestMs = Math.max(this.#earliestMs, slotMs + this.#distanceMs());
      this.#count();
      return;
    }
  }

  /** The source answered 429, and wants to be left alone for so long: lowers the rate. */
  refused(forMs: number): void {
    const nowMs = this.#now();
    this.#lower(nowMs);
    this.#refusals++;
    this.#returned = [];
    this.#earliestMs = Math.max(this.#earliestMs, nowMs + forMs);
    this.#nextMs = this.#earliestMs;
    this.#tell('refused', forMs);
  }

  /** The distance of slots at which no minute holds more requests than it may; 0 without a limit. */
  #distanceMs(): number {
    const { perMinute } = this;
    return perMinute === null ? 0 : (MINUTE_MS + SLOT_LASTS_MS + ARRIVAL_MS) / perMinute;
  }

  /** When the first slot begins that can still be used. */
  #takeSlot(): number {
    const oldestMs = this.#now() - SLOT_LASTS_MS;
    let slotMs = this.#returned.shift();
    while (slotMs !== undefined && slotMs < oldestMs) slotMs = this.#returned.shift();
    if (slotMs !== undefined) return slotMs;
    slotMs = Math.max(this.#nextMs, oldestMs);
    this.#nextMs = slotMs + this.#distanceMs();
    return slotMs;
  }

  /** The time. Where the clock was set back, the row of slots goes back with it: nobody waits until it catches up. */
  #now(): number {
    const nowMs = this.#clock.now();
    const backMs = this.#seenMs - nowMs;
    this.#seenMs = nowMs;
    if (backMs > 0) {
      this.#returned = [];
      this.#nextMs -= backMs;
      this.#earliestMs -= backMs;
    }
    return nowMs;
  }

  /** Waits for a slot's time; false when it was slept through. A slot that is not wanted any more is for the next. */
  async #reached(slotMs: number, signal: AbortSignal): Promise<boolean> {
    const waitMs = Math.ceil(slotMs - this.#clock.now());
    if (waitMs <= 0) return true;
    if (waitMs >= LONG_WAIT_MS) this.#tell('turn', waitMs);
    const refusals = this.#refusals;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      if (refusals === this.#refusals) this.#returned.push(slotMs);
      this.#returned.sort((one, other) => one - other);
      throw error;
    }
    return this.#clock.now() <= slotMs + SLOT_LASTS_MS;
  }

  #count(): void {
    const nowMs = this.#clock.now();
    const age = nowMs - this.#sent.fromMs;
    if (age >= 0 && age < COUNTED_MS) {
      this.#sent.now++;
      return;
    }
    const before = age >= 0 && age < 2 * COUNTED_MS ? this.#sent.now : 0;
    this.#sent = { fromMs: nowMs, now: 1, before };
  }

  #lower(nowMs: number): void {
    const allowed = this.perMinute;
    if (this.#lowered !== null && nowMs - this.#lowered.atMs < SAME_REFUSAL_MS) return;
    const really = Math.max(this.#sent.now, this.#sent.before) * (MINUTE_MS / COUNTED_MS);
    const refused = Math.min(really, allowed ?? really);
    const least = Math.min(LEAST_LOWERED, this.#options.perMinute ?? LEAST_LOWERED);
    this.#lowered = { perMinute: Math.max(least, refused * LOWERED_TO), atMs: nowMs };
  }

  #tell(what: RateNotice['what'], waitMs: number): void {
    const nowMs = this.#clock.now();
    if (nowMs - (this.#toldMs.get(what) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.#toldMs.set(what, nowMs);
    this.#options.onNotice?.({ what, perMinute: this.perMinute, waitMs });
  }
}
