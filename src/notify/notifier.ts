import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { JsonFile } from '../base/json-file.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import { Alerts, incidentsSchema } from './alerts.ts';
import { Channel, type Transport, isForNews } from './channel.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Fetch } from './http.ts';
import { type EmailSettings, mail } from './mail.ts';
import { pageLink, testMessage } from './message.ts';
import { type CountNewAnswers, NewAnswers, cursorsSchema } from './new-answers.ts';
import { webhook } from './webhook.ts';

/** Where notifications go; undefined: nowhere. */
export interface NotifySettings {
  /** ALERT_WEBHOOK_URL. */
  readonly alertUrl?: string | undefined;
  /** ALERT_EMAIL_TO, by the server of ALERT_SMTP_URL. */
  readonly alertEmail?: EmailSettings | undefined;
  /** NOTIFY_NEW_URL. */
  readonly newUrl?: string | undefined;
  /** NOTIFY_NEW_EMAIL_TO, by the same server. */
  readonly newEmail?: EmailSettings | undefined;
  /** HEARTBEAT_URL. */
  readonly heartbeatUrl?: string | undefined;
  /** STATUS_URL. */
  readonly statusUrl?: string | undefined;
}

/** The settings, and how requests are made. */
export interface ChannelSettings extends NotifySettings {
  /** Through the proxy of this machine's network; default: the global one. */
  readonly fetch?: Fetch | undefined;
  readonly clock: Clock;
}

/** See {@link Notifier}. */
export interface NotifierOptions extends ChannelSettings {
  /** Keeps the record of deliveries over a restart. */
  readonly stateFile: string;
  readonly newAnswers: CountNewAnswers;
  readonly logger: Logger;
}

/** The outcome of a test message in one channel. */
export interface ChannelResult {
  /** `webhook (Slack, hooks.slack.com)`. */
  readonly channel: string;
  readonly ok: boolean;
  /** What happened, as a sentence; without secrets (L15). */
  readonly message: string;
}

/** See {@link JsonFile}. */
const VERSION = 3;

/** What each channel keeps, by the setting that it comes from. */
const stateSchema = z.record(
  z.string(),
  z.object({ incidents: incidentsSchema, cursors: cursorsSchema }),
);
type State = z.infer<typeof stateSchema>;

/**
 * Notifies people of problems in the report, of their end, and of new answers. Remembers its deliveries, so that a
 * restart sends nothing twice; after a crash it rather repeats a message than loses it. Never delays its caller, nor
 * one channel another.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #file: JsonFile<typeof stateSchema>;
  /** Of a receiver that is not set up any more, nothing is kept. */
  readonly #state: State = {};
  readonly #channels: readonly Channel[];
  readonly #heartbeat: Heartbeat | undefined;
  #saving = Promise.resolve();
  #savedText = '';
  #isSaved = true;

  private constructor(options: NotifierOptions, file: JsonFile<typeof stateSchema>, before: State) {
    [this.#options, this.#file] = [options, file];
    const { heartbeatUrl, statusUrl, newAnswers: count, clock, logger } = options;
    const { fetch = globalThis.fetch } = options;
    const how = { clock, logger, save: () => this.#save() };
    this.#channels = transportsOf(options).map((transport) => {
      const { setting } = transport;
      const kept = before[setting] ?? { incidents: {}, cursors: {} };
      this.#state[setting] = kept;
      const feed = isForNews(setting)
        ? new NewAnswers({ count, cursors: kept.cursors, clock, logger })
        : new Alerts({ kept, link: pageLink(statusUrl), clock });
      return new Channel(transport, feed, how);
    });
    if (heartbeatUrl !== undefined)
      this.#heartbeat = new Heartbeat(heartbeatUrl, { fetch, clock, logger });
  }

  /** Reads the record of deliveries. Never rejects. */
  static async open(options: NotifierOptions): Promise<Notifier> {
    const { stateFile, logger } = options;
    const file = new JsonFile(stateFile, VERSION, stateSchema);
    const before = await file.read().catch((error: unknown) => {
      const message = 'The record of notifications cannot be read; a new one is begun.';
      logger.warn({ err: error, file: stateFile }, message);
    });
    return new Notifier(options, file, before ?? {});
  }

  /** Why messages are not delivered, or the heartbeat is not, as sentences; null when they are. */
  get deliveryProblem(): string | null {
    const all = [...this.#channels, this.#heartbeat];
    return all.flatMap((each) => each?.problem ?? []).join(' ') || null;
  }

  /** Compares a report on fresh readings with the deliveries, and resolves when the news was tried. */
  async look(report: Report): Promise<void> {
    // Where a message does not arrive, people can still notice the silence.
    const isBehind = this.#channels.some((channel) => channel.isBehind);
    const all = [...this.#channels, isBehind ? undefined : this.#heartbeat];
    await Promise.all(all.map(async (channel) => channel?.look(report)));
  }

  /** Waits a moment for messages in progress. Never rejects. */
  async stop(): Promise<void> {
    this.#heartbeat?.stop();
    await Promise.all(this.#channels.map((channel) => channel.stop()));
  }

  /** Writes the record where it has changed, or could not be written before; one write after another. */
  #save(): Promise<void> {
    return (this.#saving = this.#saving.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    const { stateFile, logger } = this.#options;
    const text = JSON.stringify(this.#state);
    if (text === this.#savedText) return;
    try {
      await this.#file.write(this.#state);
      [this.#savedText, this.#isSaved] = [text, true];
    } catch (error) {
      const message = 'The record of notifications cannot be written; it is tried again.';
      logger[this.#isSaved ? 'warn' : 'debug']({ err: error, file: stateFile }, message);
      this.#isSaved = false;
    }
  }
}

/** A channel that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

/** Sends a test message through every channel that is set up, each once, without anything else running. Never rejects. */
export function testChannels(settings: ChannelSettings): Promise<ChannelResult[]> {
  const message = testMessage(settings.clock.now(), pageLink(settings.statusUrl));
  return Promise.all(
    transportsOf(settings).map(async (transport) => {
      const { problem } = await transport.send(message, AbortSignal.timeout(TEST_LIMIT_MS));
      const text = problem ?? 'The test message was accepted.';
      return { channel: transport.name, ok: problem === null, message: text };
    }),
  );
}

/** The ways to people that are set up. Nothing is opened. */
export function transportsOf(settings: ChannelSettings): Transport[] {
  const { alertUrl, alertEmail, newUrl, newEmail, fetch = globalThis.fetch } = settings;
  return [
    alertUrl && webhook('ALERT_WEBHOOK_URL', alertUrl, fetch),
    alertEmail && mail('ALERT_EMAIL_TO', alertEmail),
    newUrl && webhook('NOTIFY_NEW_URL', newUrl, fetch),
    newEmail && mail('NOTIFY_NEW_EMAIL_TO', newEmail),
  ].filter((each) => typeof each === 'object');
}
