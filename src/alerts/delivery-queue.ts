import { type Clock, LinkedSignal, withinTime } from '../base/clock.ts';
import { type Logger, withoutLogFields } from '../base/logger.ts';
import { type RetryDecision, type RetryPolicy, withRetry } from '../base/retry.ts';
import type { Notice } from './notice.ts';

/** A way to people: what {@link DeliveryQueue} sends by. */
export interface Transport {
  /** For people: `webhook (Slack, hooks.slack.com)`. Holds no secret (L15). */
  readonly name: string;
  /** For the log, when it works again after it did not. */
  readonly worksAgain: string;
  /**
   * Tries once. Rejects when it was not taken; `signal` cuts it short. Resolves to a sentence about whom it did not reach
   * where it reached others, and to undefined where it was taken for all.
   */
  send(notice: Notice, signal: AbortSignal): Promise<string | undefined>;
  /** Whether a failure may be over soon. */
  decide(error: unknown): RetryDecision;
  /** Why it was not taken, as sentences, with what to check. Holds no secret (L15). */
  whyNot(error: unknown): string;
  /** Never rejects. */
  close(): Promise<void>;
}

/** See {@link DeliveryQueue}. */
export interface QueueOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: (() => number) | undefined;
  /** Called when everything handed over has been delivered or given up; not when a stop cut it short. */
  readonly onIdle?: () => void;
}

/** Outlasts a short outage of a chat; an alert that comes later than that is stale. */
const POLICY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxServerDelayMs: 120_000,
};
/** For a channel that takes nothing for minutes. */
const MAX_WAITING = 100;
/** How long a stop waits for what is being sent. */
export const STOP_MS = 2_000;

/** A notice on its way. */
export interface Delivery {
  readonly notice: Notice;
  /** Name what it is about: one subject, or several. */
  readonly keys: readonly string[];
  readonly status: 'firing' | 'repeated' | 'resolved';
  /** True for the first of its subjects: if that never arrives, nobody is to be sent its end. */
  readonly opens: boolean;
  /** Called when it has arrived. */
  readonly onDelivered?: () => void;
  /** Called when it is given up while what it is about lasts; not when a stop cut it short. */
  readonly onGivenUp?: () => void;
}

interface Sending extends Delivery {
  /** Aborts when all it is about is well again: what has not arrived by then is not sent any more. */
  readonly over: AbortController;
  /** What of it is not over. */
  open: ReadonlySet<string>;
}

/** Sends notices one after the other, without holding up its caller. What cannot be delivered is given up, and logged once. */
export class DeliveryQueue {
  readonly #transport: Transport;
  readonly #options: QueueOptions;
  readonly #stopping = new AbortController();
  #waiting: Sending[] = [];
  #current: Sending | undefined;
  /** Subjects whose first alert has not arrived. */
  readonly #unheardOf = new Set<string>();
  #sending: Promise<void> | undefined;
  #deliveryProblem: string | null = null;

  constructor(transport: Transport, options: QueueOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** Why the last alert could not be delivered, as a sentence; null when it was. */
  get deliveryProblem(): string | null {
    return this.#deliveryProblem;
  }

  /** True while an alert is on its way. */
  get isBusy(): boolean {
    return this.#sending !== undefined;
  }

  /** Hands a notice over; returns at once. The end of what has not arrived takes both back. */
  send(delivery: Delivery): void {
    if (this.#stopping.signal.aborted) return;
    if (delivery.status === 'resolved') this.#takeBack(new Set(delivery.keys));
    const open = new Set(delivery.keys);
    this.#waiting.push({ ...delivery, over: new AbortController(), open });
    if (this.#waiting.length > MAX_WAITING) {
      const oldest = this.#waiting.shift();
      this.#giveUp(oldest);
      oldest?.onGivenUp?.();
    }
    // The pass whose end is told of has no part in that.
    this.#sending ??= withoutLogFields(() => this.#sendUntilIdle());
  }

  async #sendUntilIdle(): Promise<void> {
    // More may be handed over while one round comes to its end.
    do await this.#sendAll();
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted);
    this.#sending = undefined;
    if (!this.#stopping.signal.aborted) this.#options.onIdle?.();
  }

  /** Waits a moment for what is being sent, then gives up. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#transport.close();
    await this.#sending;
  }

  #takeBack(keys: ReadonlySet<string>): void {
    for (const sending of [this.#current, ...this.#waiting]) {
      if (sending === undefined || !sending.keys.some((key) => keys.has(key))) continue;
      sending.open = sending.open.difference(keys);
      if (sending.open.size === 0) sending.over.abort();
    }
    const late = this.#waiting.filter(({ over }) => over.signal.aborted);
    this.#waiting = this.#waiting.filter(({ over }) => !over.signal.aborted);
    for (const sending of late) this.#giveUp(sending);
  }

  #giveUp(sending: Sending | undefined): void {
    if (sending?.opens !== true) return;
    for (const key of sending.keys) this.#unheardOf.add(key);
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.status === 'resolved' && this.#forgetUnheardOf(next.keys)) continue;
      this.#current = next;
      try {
        const gap = await this.#deliver(next);
        for (const key of next.keys) this.#unheardOf.delete(key);
        if (gap === undefined) this.#delivered();
        else this.#tell(gap);
        next.onDelivered?.();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#giveUp(next);
        if (!next.over.signal.aborted) {
          this.#givenUp(error);
          next.onGivenUp?.();
        }
      } finally {
        this.#current = undefined;
      }
    }
  }

  /** Whether nobody heard of any of them; from now on they are as if nothing had been. */
  #forgetUnheardOf(keys: readonly string[]): boolean {
    const unheard = keys.filter((key) => this.#unheardOf.delete(key));
    return unheard.length === keys.length;
  }

  /** One that is being sent is waited for: it may have arrived. */
  async #deliver({ notice, over }: Sending): Promise<string | undefined> {
    const { clock, random } = this.#options;
    using stop = new LinkedSignal(this.#stopping.signal, over.signal);
    return await withRetry(async () => this.#transport.send(notice, this.#stopping.signal), {
      policy: POLICY,
      clock,
      ...(random === undefined ? {} : { random }),
      signal: stop.signal,
      decide: (error) => this.#transport.decide(error),
    });
  }

  #delivered(): void {
    if (this.#deliveryProblem !== null) this.#options.logger.info(this.#transport.worksAgain);
    this.#deliveryProblem = null;
  }

  #givenUp(error: unknown): void {
    this.#tell(this.#transport.whyNot(error), error);
  }

  #tell(problem: string, error?: unknown): void {
    // Once, not for each alert: the log is not to be flooded by what it reports about.
    const level = this.#deliveryProblem === null ? 'warn' : 'debug';
    this.#options.logger[level](error === undefined ? {} : { err: error }, problem);
    this.#deliveryProblem = problem;
  }
}
