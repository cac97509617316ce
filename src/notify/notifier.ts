import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { JsonFile } from '../base/json-file.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import { Alerts } from './alerts.ts';
import { Channel, type Transport, isForNews } from './channel.ts';
import { heartbeat, HEARTBEAT_MS, monitor } from './heartbeat.ts';
import type { Fetch } from './http.ts';
import { type EmailSettings, mail } from './mail.ts';
import { pageLink, testMessage } from './message.ts';
import { type CountNewAnswers, NewAnswers } from './new-answers.ts';
import { webhook } from './webhook.ts';

/** Where notifications go; undefined: nowhere. */
export interface NotifySettings {
  /** By the setting that names it: the address of a webhook, or people who get mail. */
  readonly receivers: Readonly<Record<string, string | EmailSettings | undefined>>;
  /** HEARTBEAT_URL. */
  readonly heartbeatUrl?: string | undefined;
  /** STATUS_URL. */
  readonly statusUrl?: string | undefined;
}

/** See {@link Notifier}. */
export interface NotifierOptions extends NotifySettings {
  /** Through the proxy of this machine's network; default: the global one. */
  readonly fetch?: Fetch | undefined;
  /** Keeps the record of deliveries over a restart. */
  readonly stateFile: string;
  readonly newAnswers: CountNewAnswers;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** See {@link JsonFile}. */
const VERSION = 4;

/** A receiver that is away is tried at least so often. */
const MAX_REST_MS = 5 * 60_000;

/** What the feed of each channel keeps, by the setting that the channel comes from. */
const recordSchema = z.record(z.string(), z.unknown());
type Kept = z.infer<typeof recordSchema>;

/**
 * Notifies people of problems in the report, of their end, and of new answers. Remembers its deliveries, so that a
 * restart sends nothing twice; after a crash it rather repeats a message than loses it. Never delays its caller, nor
 * one channel another.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #file: JsonFile<typeof recordSchema>;
  readonly #messages: readonly Channel[];
  readonly #channels: readonly Pick<Channel, 'look' | 'stop' | 'problem'>[];
  #saving = Promise.resolve();
  #saved = '';

  private constructor(options: NotifierOptions, file: JsonFile<typeof recordSchema>, kept: Kept) {
    [this.#options, this.#file] = [options, file];
    const { heartbeatUrl, statusUrl, newAnswers: count, clock, logger } = options;
    const { fetch = globalThis.fetch } = options;
    const how = { clock, logger, maxRestMs: MAX_REST_MS, save: () => this.#save() };
    this.#messages = transportsOf(options, fetch).map((transport) => {
      const before = kept[transport.setting];
      const feed = isForNews(transport.setting)
        ? new NewAnswers(before, { count, clock, logger })
        : new Alerts(before, pageLink(statusUrl), clock);
      return new Channel(transport, feed, how);
    });
    const isBehind = (): boolean => this.#messages.some((channel) => channel.isBehind);
    // Once the monitoring service is back, it must not wait longer than for the next call.
    const often = { ...how, maxRestMs: HEARTBEAT_MS };
    const heartbeats = heartbeatUrl === undefined ? [] : [monitor(heartbeatUrl, fetch)];
    this.#channels = [
      ...this.#messages,
      ...heartbeats.map((calls) => new Channel(calls, heartbeat(clock, isBehind), often)),
    ];
  }

  /** Reads the record of deliveries. Never rejects. */
  static async open(options: NotifierOptions): Promise<Notifier> {
    const { stateFile, logger } = options;
    const file = new JsonFile(stateFile, VERSION, recordSchema);
    const kept = await file.read().catch((error: unknown) => {
      const message = 'The record of notifications cannot be read; a new one is begun.';
      logger.warn({ err: error, file: stateFile }, message);
    });
    return new Notifier(options, file, kept ?? {});
  }

  /** Why messages are not delivered, or the heartbeat is not, as sentences; null when they are. */
  get deliveryProblem(): string | null {
    return this.#channels.flatMap(({ problem }) => problem ?? []).join(' ') || null;
  }

  /** Compares a report on fresh readings with the deliveries, and resolves when the news was tried. Never rejects. */
  async look(report: Report): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.look(report)));
  }

  /** Waits a moment for messages in progress. Never rejects. */
  async stop(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.stop()));
  }

  /** One write after another. */
  #save(): Promise<void> {
    return (this.#saving = this.#saving.then(() => this.#write()));
  }

  /** Writes the record where it has changed, or could not be written before. */
  async #write(): Promise<void> {
    // Of a receiver that is not set up any more, nothing is kept.
    const all = this.#messages.map(({ transport, feed }) => [transport.setting, feed.kept]);
    const text = JSON.stringify(all);
    if (text === this.#saved) return;
    try {
      await this.#file.write(Object.fromEntries(all) as Kept);
      this.#saved = text;
    } catch (error) {
      // The report says that DATA_DIR cannot be written.
      this.#options.logger.debug({ err: error }, 'Deliveries cannot be recorded.');
    }
  }
}

/** A receiver that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

/** Sends a test message once: why it did not arrive, as sentences without secrets (L15); null: it did. Never rejects. */
export async function sendTest(
  transport: Transport,
  { statusUrl }: NotifySettings,
  clock: Clock,
): Promise<string | null> {
  const message = testMessage(clock.now(), pageLink(statusUrl));
  const { problem } = await transport.send(message, AbortSignal.timeout(TEST_LIMIT_MS));
  return problem;
}

/** The ways to people that are set up. Nothing is opened. */
export const transportsOf = (
  { receivers }: NotifySettings,
  fetch: Fetch = globalThis.fetch,
): Transport[] =>
  Object.entries(receivers).flatMap(([setting, to]) => {
    if (to === undefined) return [];
    return typeof to === 'string' ? webhook(setting, to, fetch) : mail(setting, to);
  });
