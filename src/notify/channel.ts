import { type Clock, hasPassed, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import type { Message } from './message.ts';

/** The outcome of one attempt. */
export interface Attempt {
  /** Accepted; with a problem, some receivers did not accept it. */
  readonly taken: boolean;
  /** A sentence or several, with what to check and without secrets (L15); null for none. */
  readonly problem: string | null;
}

/** A way to people. */
export interface Transport {
  /** For people: `webhook (Slack, hooks.slack.com)`. */
  readonly name: string;
  /** The setting that it comes from. */
  readonly setting: string;
  /** Tries once; `signal` cuts it short. Never rejects. */
  send(message: Message, signal: AbortSignal): Promise<Attempt>;
}

/** Whether a setting names a receiver of new answers, and of nothing else. */
export const isForNews = (setting: string): boolean => setting.startsWith('NOTIFY_NEW_');

/** A message that is due. */
export interface Due {
  /** Identifies it from one attempt to the next. */
  readonly key: string;
  readonly message: Message;
  /** Called when it has arrived. */
  readonly taken: () => void;
}

/** Decides what a channel sends. */
export interface Feed {
  /** Follows the reports. */
  look(report: Report): void;
  /** The messages that are due now, the most urgent first. Asked again after each attempt. Never rejects. */
  due(): readonly Due[] | Promise<readonly Due[]>;
}

/** How a channel works. */
export interface ChannelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Keeps what feeds have noted over a restart. Never rejects. */
  readonly save: () => Promise<void>;
}

/** The first rest of a message that was not taken. It doubles with each attempt, so that a server does not take them for an attack. */
const REST_MS = 10_000;
const MAX_REST_MS = 5 * 60_000;
/** How long a stop waits for the message in progress. */
export const STOP_MS = 2_000;

/**
 * Sends due messages one after another and blocks nothing. Nothing waits in a queue: the due messages are computed for each
 * report and after each attempt, so a problem that ended before its message arrived is not mentioned, and a message that
 * was not taken is tried again as long as its problem lasts.
 */
export class Channel {
  readonly #transport: Transport;
  readonly #feed: Feed;
  readonly #options: ChannelOptions;
  readonly #stopping = new AbortController();
  /** By key, the messages that are due and were not taken. */
  readonly #resting = new Map<string, { readonly fromMs: number; readonly restMs: number }>();
  #sending: Promise<void> = Promise.resolve();
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

  /** A message that is due was not taken. */
  get isBehind(): boolean {
    return this.#resting.size > 0;
  }

  /** Follows a report, and resolves when what is due was tried. */
  look(report: Report): Promise<void> {
    this.#feed.look(report);
    return (this.#sending = this.#sending.then(() => this.#sendAll()));
  }

  /** Waits a moment for the message in progress. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending, STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    const { clock, save } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const due = await this.#feed.due();
      await save();
      const keys = new Set(due.map(({ key }) => key));
      for (const key of this.#resting.keys()) if (!keys.has(key)) this.#resting.delete(key);
      const next = this.#nextOf(due, clock.now());
      if (next === undefined) return;
      const attempt = await this.#transport.send(next.message, signal);
      if (attempt.taken) {
        next.taken();
        // At once, so that little can come between a delivery and the note of it.
        await save();
        // The receiver is back.
        this.#resting.clear();
      }
      if (signal.aborted) return;
      this.#note(attempt.problem);
      if (!attempt.taken) {
        const restMs = Math.min(
          2 * (this.#resting.get(next.key)?.restMs ?? REST_MS / 2),
          MAX_REST_MS,
        );
        this.#resting.set(next.key, { fromMs: clock.now(), restMs });
        return;
      }
    }
  }

  /** Of those that have rested, the one whose attempt is the longest ago: one that is refused holds up no other. */
  #nextOf(due: readonly Due[], nowMs: number): Due | undefined {
    const tried = ({ key }: Due) => this.#resting.get(key) ?? { fromMs: 0, restMs: 0 };
    return due
      .filter((one) => hasPassed(tried(one).fromMs, tried(one).restMs, nowMs))
      .toSorted((a, b) => tried(a).fromMs - tried(b).fromMs)[0];
  }

  /** Logs once, not for each message. */
  #note(problem: string | null): void {
    const { logger } = this.#options;
    if (problem === null && this.#problem !== null)
      logger.info(`Delivered again: ${this.#transport.name}.`);
    if (problem !== null) logger[this.#problem === null ? 'warn' : 'debug'](problem);
    this.#problem = problem;
  }
}
