import { type Clock, withinTime } from '../base/clock.ts';
import { type Logger, withoutLogFields } from '../base/logger.ts';
import { type RetryPolicy, retryDelayMs } from '../base/retry.ts';
import type { Message } from './message.ts';

/** The outcome of one attempt. A problem is a sentence or several, with what to check and without secrets (L15). */
export type Attempt =
  /** Accepted; with a problem, some receivers did not accept it. */
  | { readonly taken: true; readonly problem: string | null }
  | {
      readonly taken: false;
      readonly problem: string;
      /** Whether the same may be taken soon. */
      readonly retry: boolean;
      /** The wait that the receiver asked for. */
      readonly waitMs?: number | undefined;
    };

/** A way to people. */
export interface Transport {
  /** For people: `webhook (Slack, hooks.slack.com)`. */
  readonly name: string;
  /** Tries once; `signal` cuts it short. Never rejects. */
  send(message: Message, signal: AbortSignal): Promise<Attempt>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** A message that is due. */
export interface Due {
  /** Identifies it from one attempt to the next. */
  readonly key: string;
  readonly message: Message;
  /** Called when it has arrived. */
  readonly taken: () => void;
}

/** The messages that are due now, the most urgent first. They are asked for again after each attempt. */
export type Feed = () => readonly Due[];

/** How a channel works. */
export interface ChannelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: (() => number) | undefined;
}

/** Outlasts a short outage of a receiver: some four minutes. */
const POLICY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxServerDelayMs: 120_000,
};
/** The rest before a message is tried again; a refused message rests longer. */
const REST_MS = 5 * 60_000;
const REFUSED_REST_MS = 10 * 60_000;
/** How long a stop waits for the message in progress. */
export const STOP_MS = 2_000;

/** A message that was not taken. */
interface Failed {
  readonly times: number;
  readonly untilMs: number;
  readonly restMs: number;
  /** The message itself was refused, not the receiver away. */
  readonly isRefused: boolean;
}

/**
 * Sends due messages one after another and blocks nothing. Nothing waits in a queue: the due messages are
 * computed when the channel is free, so a problem that ended before its message arrived is not mentioned, and a message
 * that no one took is due as long as its problem lasts.
 */
export class Channel {
  readonly #transport: Transport;
  readonly #feed: Feed;
  readonly #options: ChannelOptions;
  readonly #stopping = new AbortController();
  /** By key. */
  readonly #failed = new Map<string, Failed>();
  #sending: Promise<void> | undefined;
  #problem: string | null = null;

  constructor(transport: Transport, feed: Feed, options: ChannelOptions) {
    this.#transport = transport;
    this.#feed = feed;
    this.#options = options;
  }

  /** Why the last message was not delivered, as sentences; null when it was. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Starts to send due messages, unless it does so already. Returns at once. */
  wake(): void {
    if (this.#sending !== undefined || this.#next() === undefined) return;
    // What a run logs is not about this.
    this.#sending = withoutLogFields(() => this.#sendAll()).finally(
      () => (this.#sending = undefined),
    );
  }

  /** Waits a moment for the message in progress. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#transport.close();
    await this.#sending;
  }

  #next(): Due | undefined {
    if (this.#stopping.signal.aborted) return undefined;
    const due = this.#feed();
    if (due.length === 0) this.#failed.clear();
    return due.find(({ key }) => !this.#isResting(key));
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#stopping;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const attempt = await this.#transport.send(next.message, signal);
      if (attempt.taken) this.#taken(next);
      if (signal.aborted) return;
      this.#note(attempt.problem);
      if (!attempt.taken) await this.#rest(next.key, attempt);
    }
  }

  #taken(due: Due): void {
    due.taken();
    this.#failed.delete(due.key);
    // It takes messages again: those given up during an outage are tried again now.
    for (const [key, { isRefused }] of this.#failed) if (!isRefused) this.#failed.delete(key);
  }

  #isResting(key: string): boolean {
    const { untilMs, restMs } = this.#failed.get(key) ?? { untilMs: 0, restMs: 0 };
    const leftMs = untilMs - this.#options.clock.now();
    // The clock may have been set back.
    return leftMs > 0 && leftMs <= restMs;
  }

  async #rest(key: string, { retry, waitMs }: Attempt & { taken: false }): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const times = (this.#failed.get(key)?.times ?? 0) + 1;
    const isShort = retry && times < POLICY.attempts;
    const restMs = isShort ? 0 : retry ? REST_MS : REFUSED_REST_MS;
    this.#failed.set(key, { times, untilMs: clock.now() + restMs, restMs, isRefused: !retry });
    if (!isShort) return;
    const delayMs = retryDelayMs(POLICY, times, random, waitMs);
    await clock.sleep(delayMs, this.#stopping.signal).catch(() => undefined);
  }

  /** Logs once, not for each message. */
  #note(problem: string | null): void {
    const { logger } = this.#options;
    if (problem === null && this.#problem !== null)
      logger.info(`Notifications are delivered again: ${this.#transport.name}.`);
    if (problem !== null) logger[this.#problem === null ? 'warn' : 'debug'](problem);
    this.#problem = problem;
  }
}
