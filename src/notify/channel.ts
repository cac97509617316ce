import type { z } from 'zod';
import { type Clock, hasPassed, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { JsonFile } from '../health/records.ts';
import type { Report } from '../health/report.ts';
import type { Message } from './message.ts';

/** The outcome of one attempt. */
export interface Attempt {
  /** Accepted. If there is also a problem, some receivers did not accept it. */
  readonly taken: boolean;
  /** One or more sentences, with what to check and without secrets (L15); null if there is none. */
  readonly problem: string | null;
}

/** Where messages go: a webhook, a mailbox, or a monitoring service. */
export interface Receiver<Content = Message> {
  /** For people: `webhook (Slack, hooks.slack.com)`. */
  readonly name: string;
  /** The setting that it comes from. */
  readonly setting: string;
  /** Tries once; `signal` ends the try early. Never rejects. */
  send(content: Content, signal: AbortSignal): Promise<Attempt>;
}

/** Whether a setting names a receiver of new answers only. */
export const isForNews = (setting: string): boolean => setting.startsWith('NOTIFY_NEW_');

/** A message to send now. */
export interface Due<Content = Message> {
  readonly content: Content;
  /** Called when it has arrived. */
  readonly taken: () => void;
}

/** Decides what a channel sends. */
export interface Feed<Content = Message> {
  /** The state that must survive a restart, as JSON. */
  readonly kept: unknown;
  /** Everything that is due according to this report, the most urgent first. Called again after each attempt. */
  due(report: Report): readonly Due<Content>[] | Promise<readonly Due<Content>[]>;
}

/** How a channel works. */
export interface ChannelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The longest pause after failed attempts. */
  readonly maxRestMs: number;
  /** Stores the state of the feed; undefined: it is not stored. */
  readonly record?: JsonFile<z.ZodUnknown>;
}

/** The first pause after a failed attempt. It doubles with each, so that a server does not take them for an attack. */
const REST_MS = 10_000;
/** How long a stop waits for the attempt in progress. */
export const STOP_MS = 2_000;

/**
 * Sends one message after the other, and blocks nothing. There is no queue of messages: the feed is asked for each report and after
 * each attempt. So a problem that ended before its message arrived is not mentioned, and a message that was not accepted is tried
 * again as long as its problem lasts.
 */
export class Channel<Content = Message> {
  readonly #receiver: Receiver<Content>;
  readonly #feed: Feed<Content>;
  readonly #options: ChannelOptions;
  readonly #stopping = new AbortController();
  /** Attempts that failed since the last message was accepted, and when the last one did. */
  #failures = 0;
  #failedAtMs = 0;
  #sending: Promise<void> = Promise.resolve();
  /** What was last recorded, as JSON. */
  #recorded = '';
  #report: Report | undefined;
  #problem: string | null = null;

  constructor(receiver: Receiver<Content>, feed: Feed<Content>, options: ChannelOptions) {
    [this.#receiver, this.#feed, this.#options] = [receiver, feed, options];
  }

  /** Why the last attempt failed, as sentences; null if it did not. */
  get problem(): string | null {
    return this.#problem;
  }

  /** A due message was not accepted. */
  get isBehind(): boolean {
    return this.#failures > 0;
  }

  /** Takes a report, and resolves when everything that is due was tried. Never rejects. */
  look(report: Report): Promise<void> {
    this.#report = report;
    this.#sending = this.#sending
      .then(() => this.#sendAll())
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'People cannot be notified of a report.');
      });
    return this.#sending;
  }

  /** Waits a moment for the attempt in progress. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending, STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#report !== undefined && !signal.aborted) {
      const due = await this.#feed.due(this.#report);
      await this.#record();
      if (due.length === 0) this.#failures = 0;
      // In turn, because a message that is refused again and again must not hold up the others.
      const next = due[this.#failures % due.length];
      if (next === undefined || this.#isResting()) return;
      const attempt = await this.#receiver.send(next.content, signal);
      if (attempt.taken) {
        next.taken();
        // At once, so that little can happen between a delivery and its record.
        await this.#record();
      }
      if (signal.aborted) return;
      this.#note(attempt);
      if (!attempt.taken) return;
    }
  }

  /** Records the feed's state if it has changed, or could not be recorded before. */
  async #record(): Promise<void> {
    const { kept } = this.#feed;
    const text = JSON.stringify(kept);
    if (text === this.#recorded) return;
    try {
      await this.#options.record?.write(kept);
      this.#recorded = text;
    } catch (error) {
      // The report says that DATA_DIR cannot be written.
      this.#options.logger.debug({ err: error }, 'Deliveries cannot be recorded.');
    }
  }

  #isResting(): boolean {
    const { clock, maxRestMs } = this.#options;
    const ms = Math.min(REST_MS * 2 ** (this.#failures - 1), maxRestMs);
    return this.#failures > 0 && !hasPassed(this.#failedAtMs, ms, clock.now());
  }

  /** Logs once, not for each attempt. */
  #note({ taken, problem }: Attempt): void {
    const { clock, logger } = this.#options;
    this.#failures = taken ? 0 : this.#failures + 1;
    if (!taken) this.#failedAtMs = clock.now();
    if (problem === null && this.#problem !== null)
      logger.info(`Delivered again: ${this.#receiver.name}.`);
    if (problem !== null) logger[this.#problem === null ? 'warn' : 'debug'](problem);
    this.#problem = problem;
  }
}
