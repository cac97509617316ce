import { type Clock, hasPassed } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import type { Message } from './message.ts';

/** The outcome of one attempt. */
export interface Attempt {
  /** Accepted. If there is also a problem, some receivers did not accept it. */
  readonly taken: boolean;
  /** One or more sentences, with what to check and without secrets (L15); null if there is none. */
  readonly problem: string | null;
}

/** Where messages go: a webhook or a mailbox. */
export interface Receiver {
  /** The setting that it comes from. */
  readonly setting: string;
  /** For people: `ALERT_WEBHOOK_URL (hooks.slack.com)`. */
  readonly name: string;
  /** Tries once; `signal` ends the try early. Never rejects. */
  send(message: Message, signal: AbortSignal): Promise<Attempt>;
}

/** A message to send now. */
export interface Due {
  readonly content: Message;
  /** Called when it has arrived. */
  readonly taken: () => void;
}

/** Decides what a channel sends. */
export interface Feed {
  /** The state that must survive a restart, as JSON. */
  readonly kept: unknown;
  /** Everything that is due according to this report, the most urgent first. Called again after each attempt. */
  due(report: Report): readonly Due[];
}

/** How a channel works. */
export interface ChannelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stores the state of the feed. */
  readonly record: (kept: unknown) => Promise<void>;
  /** Ends the attempt in progress, and all further ones. */
  readonly signal: AbortSignal;
}

/** The first and the longest pause after a failed attempt. It doubles with each, so that a server does not take them for an attack. */
const [REST_MS, MAX_REST_MS] = [10_000, 5 * 60_000];

/**
 * Sends one message after the other, and blocks nothing. There is no queue of messages: the feed is asked for each report and after
 * each attempt. So a problem that ended before its message arrived is not mentioned, and a message that was not accepted is tried
 * again as long as its problem lasts.
 */
export class Channel {
  readonly #receiver: Receiver;
  readonly #feed: Feed;
  readonly #options: ChannelOptions;
  /** Attempts that failed since the last message was accepted, and when the last one did. */
  #failures = 0;
  #failedAtMs = 0;
  #sending: Promise<void> = Promise.resolve();
  /** What was last recorded, as JSON. */
  #recorded = '';
  #report: Report | undefined;
  #problem: string | null = null;

  constructor(receiver: Receiver, feed: Feed, options: ChannelOptions) {
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

  async #sendAll(): Promise<void> {
    const { signal } = this.#options;
    while (this.#report !== undefined && !signal.aborted) {
      const due = this.#feed.due(this.#report);
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
      await this.#options.record(kept);
      this.#recorded = text;
    } catch (error) {
      // The report says that DATA_DIR cannot be written.
      this.#options.logger.debug({ err: error }, 'Deliveries cannot be recorded.');
    }
  }

  #isResting(): boolean {
    const ms = Math.min(REST_MS * 2 ** (this.#failures - 1), MAX_REST_MS);
    return this.#failures > 0 && !hasPassed(this.#failedAtMs, ms, this.#options.clock.now());
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
