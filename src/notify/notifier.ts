import { z } from 'zod';
import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import { deliveredSchema, dueMessages } from './announcements.ts';
import { Channel, type Due, type Transport } from './channel.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Fetch } from './http.ts';
import { observe, observedSchema } from './incidents.ts';
import { type EmailSettings, Mail } from './mail.ts';
import { pageLink, testMessage } from './message.ts';
import { type CountNewAnswers, NewAnswers, cursorsSchema } from './new-answers.ts';
import { StateFile } from './state-file.ts';
import { Webhook } from './webhook.ts';

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

/** See {@link Notifier.open}. */
export interface NotifierOptions extends ChannelSettings {
  /** Keeps the record of deliveries over a restart; undefined: nothing is kept. */
  readonly stateFile?: string | undefined;
  /** Absent: new answers are not announced. */
  readonly newAnswers?: CountNewAnswers | undefined;
  readonly logger: Logger;
  readonly random?: (() => number) | undefined;
}

/** The outcome of a test message in one channel. */
export interface ChannelResult {
  /** `webhook (Slack, hooks.slack.com)`. */
  readonly channel: string;
  readonly ok: boolean;
  /** What happened, as a sentence; without secrets (L15). */
  readonly message: string;
}

const keptSchema = deliveredSchema.extend({ cursors: cursorsSchema });
type Kept = z.infer<typeof keptSchema>;

/** The schema of the state: to be raised with every change of it. */
const VERSION = 1;

const stateSchema = z.object({
  version: z.literal(VERSION),
  observed: observedSchema,
  /** What each channel has delivered, by the setting that it comes from. */
  channels: z.record(z.string(), keptSchema),
});
type State = z.infer<typeof stateSchema>;

/**
 * Notifies people of problems in the report, of their end, and of new answers. Remembers its deliveries, so that a
 * restart sends nothing twice; after a crash it rather repeats a message than loses it. Never delays its caller, nor
 * one channel another.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #file: StateFile<State>;
  readonly #state: State;
  readonly #channels: readonly Channel[];
  /** By channel: its announcements of new answers. */
  readonly #news = new Map<Channel, NewAnswers>();
  readonly #heartbeat: Heartbeat | undefined;

  private constructor(options: NotifierOptions, file: StateFile<State>, state: State) {
    this.#options = options;
    this.#file = file;
    // What a channel has delivered is forgotten when it is not set up any more.
    this.#state = { ...state, channels: {} };
    this.#channels = waysOf(options).map((way) => this.#open(way, state.channels[way.setting]));
    const { heartbeatUrl, fetch = globalThis.fetch } = options;
    this.#heartbeat =
      heartbeatUrl === undefined ? undefined : new Heartbeat(heartbeatUrl, { ...options, fetch });
  }

  /** Reads the record of deliveries. Rejects with OTHER_SCHEMA where another build wrote it. */
  static async open(options: NotifierOptions): Promise<Notifier> {
    const file = new StateFile<State>(options.stateFile, options.logger);
    return new Notifier(options, file, file.read(stateSchema, nothing()));
  }

  /** Why messages are not delivered, or the heartbeat is not, as sentences; null when they are. */
  get deliveryProblem(): string | null {
    const problems = [...this.#channels, this.#heartbeat].flatMap((each) => each?.problem ?? []);
    return problems.length === 0 ? null : problems.join(' ');
  }

  /**
   * Compares a report with the deliveries, and sends the news. `isFresh`: targets and queue were read just now, rather than that
   * only a run has ended. Returns at once.
   */
  look(report: Report, isFresh: boolean): void {
    const nowMs = this.#options.clock.now();
    const kept = Object.values(this.#state.channels);
    const announced = new Set(kept.flatMap(({ incidents }) => Object.keys(incidents)));
    this.#state.observed = observe(this.#state.observed, { report, nowMs, isFresh, announced });
    this.#save();
    for (const channel of this.#channels) {
      const news = this.#news.get(channel);
      if (news === undefined) channel.wake();
      else void news.look(report).then(() => channel.wake());
    }
    // Where messages do not arrive, people can still notice the silence.
    const isDelivered = this.#channels.every(({ problem }) => problem === null);
    if (isFresh && isDelivered && report.state !== 'failed') this.#heartbeat?.beat();
  }

  /** Sends a test message through every channel, each once, and reports the outcome. Never rejects. */
  test(): Promise<ChannelResult[]> {
    return testChannels(this.#options);
  }

  /** Waits a moment for messages in progress. Never rejects. */
  async stop(): Promise<void> {
    const stopping = this.#channels.map((channel) => channel.stop());
    await Promise.all([...stopping, this.#heartbeat?.stop()]);
  }

  #open({ setting, isForNews, transport }: Way, kept: Kept = nothingKept()): Channel {
    const { clock, statusUrl, newAnswers: count = noAnswers } = this.#options;
    this.#state.channels[setting] = kept;
    const onTaken = (): void => this.#save();
    if (!isForNews) {
      const link = pageLink(statusUrl);
      const feed = (): Due[] =>
        dueMessages(this.#state.observed, kept, { nowMs: clock.now(), link, onTaken });
      return new Channel(transport, feed, this.#options);
    }
    const news = new NewAnswers({ ...this.#options, count, cursors: kept.cursors, onTaken });
    const channel = new Channel(transport, () => news.due(), this.#options);
    this.#news.set(channel, news);
    return channel;
  }

  #save(): void {
    this.#file.write(this.#state);
  }
}

const nothing = (): State => ({
  version: VERSION,
  observed: { incidents: {}, rejected: {} },
  channels: {},
});
const nothingKept = (): Kept => ({ incidents: {}, rejected: {}, kinds: {}, cursors: {} });

const noAnswers: CountNewAnswers = () => Promise.resolve({ count: 0, newestMs: null });

/** A channel that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

/** Sends a test message through every channel that is set up, each once, without anything else running. Never rejects. */
export function testChannels(settings: ChannelSettings): Promise<ChannelResult[]> {
  const { clock, statusUrl } = settings;
  const message = testMessage(clock.now(), pageLink(statusUrl));
  return Promise.all(
    waysOf(settings).map(async ({ transport }) => {
      const stop = new AbortController();
      const sending = transport.send(message, stop.signal);
      const attempt = await withinTime(sending, TEST_LIMIT_MS, clock);
      stop.abort();
      await transport.close();
      const problem = attempt === undefined ? 'No response in time.' : attempt.problem;
      const text = problem ?? 'The test message was accepted.';
      return { channel: transport.name, ok: problem === null, message: text };
    }),
  );
}

/** The channels that are set up, by their names for people. */
export const channelNames = (settings: ChannelSettings): string[] =>
  waysOf(settings).map(({ transport }) => transport.name);

/** A channel that is set up. */
interface Way {
  readonly setting: string;
  readonly isForNews: boolean;
  readonly transport: Transport;
}

function waysOf(settings: ChannelSettings): Way[] {
  const { alertUrl, alertEmail, newUrl, newEmail, clock, fetch = globalThis.fetch } = settings;
  const webhook = (url: string | undefined, setting: string, isForNews: boolean): Way[] =>
    url === undefined
      ? []
      : [{ setting, isForNews, transport: new Webhook({ url, setting, isForNews, fetch, clock }) }];
  const mail = (to: EmailSettings | undefined, setting: string, isForNews: boolean): Way[] =>
    to === undefined
      ? []
      : [{ setting, isForNews, transport: new Mail({ ...to, setting, isForNews }) }];
  return [
    ...webhook(alertUrl, 'ALERT_WEBHOOK_URL', false),
    ...mail(alertEmail, 'ALERT_EMAIL_TO', false),
    ...webhook(newUrl, 'NOTIFY_NEW_URL', true),
    ...mail(newEmail, 'NOTIFY_NEW_EMAIL_TO', true),
  ];
}
