import { randomUUID } from 'node:crypto';
import { type Clock, throwIfAborted } from '../base/clock.ts';
import { withinTime } from '../base/deadline.ts';
import {
  type RateAsk,
  type RateShare,
  type RateState,
  SLOT_LASTS_MS,
  rateFrom,
  shareRate,
} from './rate-share.ts';

/** Where processes keep their rate together. */
export interface RateStore {
  /** Takes a share, in one step for all processes. May reject, and may take for ever. */
  share(ask: RateAsk): Promise<RateShare>;
}

/** What is worth telling people. Never holds an answer or a key. */
export interface RateNotice {
  /**
   * `turn`: a request waits long for its turn. `refused`: the source answered 429. `alone`: the store that processes share
   * does not answer, so that each keeps to its part. `together`: it answers again.
   */
  readonly what: 'turn' | 'refused' | 'alone' | 'together';
  /** Requests that may be sent in a minute, by all processes or, alone, by this one; null: as many as there are. */
  readonly perMinute: number | null;
  /** How long the request will have waited; 0 where none waits. */
  readonly waitMs: number;
}

/** How a process keeps a rate. */
export interface RequestRateOptions {
  /** FORMS_API_RATE; null: no limit, until the source answers 429. */
  readonly perMinute: number | null;
  readonly clock: Clock;
  readonly onNotice?: (notice: RateNotice) => void;
}

/** A store that takes longer counts as lost. */
const ANSWER_WITHIN_MS = 2_000;
/** A lost store is asked again after so long. */
const ASK_AGAIN_MS = 5_000;
/** Who has never met the store does not know how many others there are: so small a part as their rest leaves room for. */
const UNKNOWN_PROCESSES = 12;
/** Without a limit the others are asked this often whether there is one by now. */
const HEAR_EVERY_MS = 2_000;
/** Slots that last for less than this are asked for by more at a time. */
const GROW_BELOW_MS = 500;
const MOST_SLOTS = 1_000;
/** A wait from here on is worth a line; the same is not told more often than once a minute. */
const LONG_WAIT_MS = 10_000;
const TELL_EVERY_MS = 60_000;

interface Slot {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * The rate at which this process sends requests to the source: alone, or, once {@link shareWith} has named a store, together
 * with all processes that use it. A store that is slow or gone stops nothing: then each process keeps to a fair part.
 */
export class RequestRate {
  readonly #options: RequestRateOptions;
  readonly #clock: Clock;
  readonly #process = randomUUID();
  /** This process's own state: all there is without a store, and while the store is away. */
  #own: RateState | null = null;
  #store: RateStore | undefined;
  /** While it is set, the store counts as lost, and is asked again from then on. */
  #awayUntilMs: number | null = null;
  /** The store is back, and the slots that it gives begin then; until then this process's own go on. */
  #backFromMs: number | null = null;
  /** When the slots of the store that this process has taken are over. */
  #takenUntilMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  /** How many processes send requests, as last heard from the store; null: never heard. */
  #processes: number | null = null;
  #slots: Slot[] = [];
  /** Until when requests may be sent without slots. */
  #freeUntilMs = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #refusedForMs: number | null = null;
  /** Counts refusals: slots from before one are void. */
  #refusals = 0;
  #renewing: Promise<void> | undefined;
  /** How many slots are asked for at once: more where they are used up quickly. */
  #appetite = 1;
  #askedMs = Number.NEGATIVE_INFINITY;
  /** As last taken. */
  #perMinute: number | null;
  readonly #toldMs = new Map<RateNotice['what'], number>();

  constructor(options: RequestRateOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#perMinute = options.perMinute;
  }

  /** Requests that may be sent in a minute, by all processes or, alone, by this one; null: as many as there are. */
  get perMinute(): number | null {
    return this.#perMinute;
  }

  /** From now on the rate is kept together with the others that use `store`. */
  shareWith(store: RateStore): void {
    this.#store = store;
    this.#awayUntilMs = null;
    this.#backFromMs = null;
    this.#processes = null;
    this.#slots = [];
    this.#freeUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Resolves when one request may be sent, and counts it. Rejects with CANCELLED when `signal` aborts first. */
  async turn(signal: AbortSignal): Promise<void> {
    for (;;) {
      throwIfAborted(signal);
      if (this.#clock.now() < this.#freeUntilMs) break;
      const slot = this.#takeSlot();
      if (slot === undefined) {
        await this.#renewed(signal);
        continue;
      }
      const refusals = this.#refusals;
      if ((await this.#reached(slot, signal)) && refusals === this.#refusals) break;
    }
    this.#sent++;
  }

  /** The source answered 429, and wants to be left alone for so long: lowers the rate for everybody. */
  refused(forMs: number): void {
    this.#refusals++;
    this.#slots = [];
    this.#freeUntilMs = Number.NEGATIVE_INFINITY;
    this.#refusedForMs = Math.max(forMs, this.#refusedForMs ?? 0);
    void this.#renew();
  }

  /** The first slot that can still be used. */
  #takeSlot(): Slot | undefined {
    const nowMs = this.#clock.now();
    let slot = this.#slots.shift();
    while (slot !== undefined && slot.untilMs < nowMs) slot = this.#slots.shift();
    return slot;
  }

  /** Waits for a slot's time; false when it was slept through. A slot that is not wanted any more is for the next. */
  async #reached(slot: Slot, signal: AbortSignal): Promise<boolean> {
    const waitMs = Math.ceil(slot.fromMs - this.#clock.now());
    if (waitMs <= 0) return true;
    if (waitMs >= LONG_WAIT_MS) this.#tell('turn', waitMs);
    const refusals = this.#refusals;
    try {
      await this.#clock.sleep(waitMs, signal);
    } catch (error) {
      if (refusals === this.#refusals) this.#slots.unshift(slot);
      throw error;
    }
    return this.#clock.now() <= slot.untilMs;
  }

  /** Waits for new slots, all together, each until its own signal aborts. */
  async #renewed(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const abort = (): void => aborted.resolve();
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#renew(), aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#ask().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #ask(): Promise<void> {
    const askedMs = this.#clock.now();
    this.#grow(askedMs);
    const ask = this.#nextAsk();
    const refusals = this.#refusals;
    const shared = await this.#askStore(ask);
    const share = shared ?? this.#askOwn(ask, askedMs);
    this.#perMinute = share.perMinute;
    if (ask.refusedForMs !== null) this.#tell('refused', ask.refusedForMs);
    // Refused meanwhile: what was given out before that is void.
    if (refusals !== this.#refusals) return;
    const givenMs = shared === undefined ? askedMs : this.#clock.now();
    if (shared !== undefined) {
      this.#takenUntilMs = givenMs + share.firstInMs + share.slots * share.everyMs;
    }
    this.#take(share, { askedMs, givenMs });
  }

  /** One question a second or so, however high the rate: where slots last for less, more are asked for. */
  #grow(nowMs: number): void {
    const sinceMs = nowMs - this.#askedMs;
    this.#askedMs = nowMs;
    if (sinceMs < GROW_BELOW_MS) this.#appetite = Math.min(2 * this.#appetite, MOST_SLOTS);
    else if (sinceMs > HEAR_EVERY_MS) this.#appetite = 1;
  }

  #nextAsk(): RateAsk {
    const ask = {
      process: this.#process,
      perMinute: this.#options.perMinute,
      slots: this.#appetite,
      sent: this.#sent,
      refusedForMs: this.#refusedForMs,
    };
    this.#sent = 0;
    this.#refusedForMs = null;
    return ask;
  }

  /** Undefined without a store, and while it is away. */
  async #askStore(ask: RateAsk): Promise<RateShare | undefined> {
    const store = this.#store;
    if (store === undefined) return undefined;
    if (this.#awayUntilMs !== null) {
      if (this.#clock.now() >= this.#awayUntilMs && !this.#isAsking) void this.#lookFor(store);
      return undefined;
    }
    if (this.#backFromMs !== null) {
      const goneMs = Math.max(this.#clock.now(), this.#own?.nextMs ?? 0);
      if (goneMs < this.#backFromMs) return undefined;
      this.#backFromMs = null;
    }
    const askedMs = this.#clock.now();
    const share = await withinTime(this.#asked(store, ask), ANSWER_WITHIN_MS, this.#clock);
    if (share === undefined) {
      this.#awayUntilMs = this.#clock.now() + ASK_AGAIN_MS;
      // After what was taken with the others, and no sooner than if the store had taken its time: nothing is due by then.
      this.#own = rateFrom(Math.max(askedMs + ANSWER_WITHIN_MS, this.#takenUntilMs));
      this.#tell('alone', 0);
      return undefined;
    }
    this.#processes = share.processes;
    return share;
  }

  /** Asks a lost store for nothing but an answer, while requests go on. */
  async #lookFor(store: RateStore): Promise<void> {
    const askedMs = this.#clock.now();
    const aloneForMs = (this.#own?.nextMs ?? askedMs) - askedMs;
    const share = await this.#asked(store, { ...this.#nextAsk(), slots: 0, aloneForMs });
    if (this.#store !== store) return;
    const nowMs = this.#clock.now();
    // What was sent alone while it took its time is not in its row.
    if (share === undefined || nowMs - askedMs > ANSWER_WITHIN_MS) {
      this.#awayUntilMs = nowMs + ASK_AGAIN_MS;
      return;
    }
    this.#awayUntilMs = null;
    this.#backFromMs = askedMs + share.firstInMs;
    // Until then the others are there, too, whom the store has not heard for long.
    if (this.#processes !== null) this.#processes = Math.max(this.#processes, share.processes);
    this.#tell('together', 0);
  }

  /** One question at a time, however long it takes: a driver may keep what it cannot send. Undefined when it fails. */
  async #asked(store: RateStore, ask: RateAsk): Promise<RateShare | undefined> {
    this.#isAsking = true;
    try {
      return await store.share(ask);
    } catch {
      return undefined;
    } finally {
      this.#isAsking = false;
    }
  }

  /** A share of this process's own: all of the rate, or, beside others, a fair part. */
  #askOwn(ask: RateAsk, nowMs: number): RateShare {
    const processes = this.#processes ?? (this.#store === undefined ? 1 : UNKNOWN_PROCESSES);
    const perMinute = ask.perMinute === null ? null : ask.perMinute / processes;
    const slots = this.#backFromMs === null ? ask.slots : 1;
    const { state, share } = shareRate(this.#own, nowMs, { ...ask, slots, perMinute });
    this.#own = state;
    return share;
  }

  /** A share was given out between `askedMs` and `givenMs`: a slot never begins before its time, and never lasts longer. */
  #take(
    { perMinute, slots, firstInMs, everyMs }: RateShare,
    { askedMs, givenMs }: { readonly askedMs: number; readonly givenMs: number },
  ): void {
    const nowMs = this.#clock.now();
    if (perMinute === null) {
      this.#freeUntilMs = nowMs + HEAR_EVERY_MS;
      return;
    }
    const given = Array.from({ length: slots }, (_, index) => ({
      fromMs: givenMs + firstInMs + index * everyMs,
      untilMs: askedMs + firstInMs + index * everyMs + SLOT_LASTS_MS,
    }));
    const usable = given.filter(({ untilMs }) => untilMs >= nowMs);
    this.#slots.push(...usable);
  }

  #tell(what: RateNotice['what'], waitMs: number): void {
    const nowMs = this.#clock.now();
    if (nowMs - (this.#toldMs.get(what) ?? Number.NEGATIVE_INFINITY) < TELL_EVERY_MS) return;
    this.#toldMs.set(what, nowMs);
    this.#options.onNotice?.({ what, perMinute: this.#perMinute, waitMs });
  }
}
