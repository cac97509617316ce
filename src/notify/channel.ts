import type { z } from 'zod';
import { type Clock, hasPassed, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { JsonFile } from '../health/records.ts';
import type { Report } from '../health/report.ts';
import type { Message } from './message.ts';

/** The outcome of one attempt. */
export interface Attempt {
  /** Accepted; with a problem, some receivers did not accept it. */
  readonly taken: boolean;
  /** A sentence or several, with what to check and without secrets (L15); null for none. */
  readonly problem: string | null;
}

/** A way to a receiver. */
export interface Transport<Content = Message> {
  /** For people: `webhook (Slack, hooks.slack.com)`. */
  readonly name: string;
  /** The setting that it comes from. */
  readonly setting: string;
  /** Tries once; `signal` cuts it short. Never rejects. */
  send(content: Content, signal: AbortSignal): Promise<Attempt>;
}

/** Whether a setting names a receiver of new answers, and of nothing else. */
export const isForNews = (setting: string): boolean => setting.startsWith('NOTIFY_NEW_');

/** Something that is to be sent now. */
export interface Due<Content = Message> {
  /** Identifies it from one attempt to the next. */
  readonly key: string;
  readonly content: Content;
  /** Called when it has arrived. */
  readonly taken: () => void;
}

/** Decides what a channel sends. */
export interface Feed<Content = Message> {
  /** What a restart must not lose, as JSON. */
  readonly kept: unknown;
  /** Everything that is due by this report, the most urgent first. Asked again after each attempt. */
  due(report: Report): readonly Due<Content>[] | Promise<readonly Due<Content>[]>;
}

/** How a channel works. */
export interface ChannelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The longest rest after attempts that failed. */
  readonly maxRestMs: number;
  /** Holds what the feed keeps; undefined: it keeps nothing. */
  readonly record?: JsonFile<z.ZodUnknown>;
}

/** The first rest after an attempt that failed. It doubles with each, so that a server does not take them for an attack. */
const REST_MS = 10_000;
/** How long a stop waits for the attempt in progress. */
export const STOP_MS = 2_000;

/**
 * Sends one message after another, and blocks nothing. Nothing waits in a queue: the feed is asked for each report and
 * after each attempt, so a problem that ended before its message arrived is not mentioned, and a message that was not
 * taken is tried again as long as its problem lasts.
 */
export class Channel<Content = Message> {
  readonly #transport: Transport<Content>;
  readonly #feed: Feed<Content>;
  readonly #options: ChannelOptions;
  readonly #stopping = new AbortController();
  /** By key, how often something that is due was tried in vain. */
  readonly #tries = new Map<string, number>();
  #rest = { fromMs: 0, ms: 0 };
  #sending: Promise<void> = Promise.resolve();
  /** What was recorded last, as JSON. */
  #recorded = '';
  #report: Report | undefined;
  #problem: string | null = null;

  constructor(transport: Transport<Content>, feed: Feed<Content>, options: ChannelOptions) {
    [this.#transport, this.#feed, this.#options] = [transport, feed, options];
  }

  /** Why the last attempt failed, as sentences; null when it did not. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Something that is due was not taken. */
  get isBehind(): boolean {
    return this.#tries.size > 0;
  }

  /** Follows the reports, and resolves when everything that is due was tried. Never rejects. */
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
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    while (this.#report !== undefined && !signal.aborted) {
      const due = await this.#feed.due(this.#report);
      await this.#record();
      const keys = new Set(due.map(({ key }) => key));
      for (const key of this.#tries.keys()) if (!keys.has(key)) this.#tries.delete(key);
      // One that is refused again and again holds up no other.
      const [next] = due.toSorted((a, b) => this.#triesOf(a) - this.#triesOf(b));
      const isResting = !hasPassed(this.#rest.fromMs, this.#rest.ms, clock.now());
      if (next === undefined || (isResting && this.#triesOf(next) > 0)) return;
      const attempt = await this.#transport.send(next.content, signal);
      if (attempt.taken) {
        next.taken();
        // At once, so that little can come between a delivery and the note of it.
        await this.#record();
      }
      if (signal.aborted) return;
      this.#note(next, attempt);
      if (!attempt.taken) return;
    }
  }

  /** Records what the feed keeps where that has changed, or could not be recorded before. */
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

  #triesOf({ key }: Due<Content>): number {
    return this.#tries.get(key) ?? 0;
  }

  /** Logs once, not for each attempt. */
  #note(due: Due<Content>, { taken, problem }: Attempt): void {
    const { clock, logger, maxRestMs } = this.#options;
    if (taken) {
      this.#tries.delete(due.key);
      this.#rest = { fromMs: 0, ms: 0 };
    } else {
      this.#tries.set(due.key, this.#triesOf(due) + 1);
      const ms = Math.min(Math.max(REST_MS, 2 * this.#rest.ms), maxRestMs);
      this.#rest = { fromMs: clock.now(), ms };
    }
    if (problem === null && this.#problem !== null)
      logger.info(`Delivered again: ${this.#transport.name}.`);
    if (problem !== null) logger[this.#problem === null ? 'warn' : 'debug'](problem);
    this.#problem = problem;
  }
}
