import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { DataDir } from '../health/data-dir.ts';
import type { Report } from '../health/report.ts';
import { Alerts } from './alerts.ts';
import { Channel, type Receiver } from './channel.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Fetch } from './http.ts';
import { type EmailSettings, mail } from './mail.ts';
import { pageLink, testMessage } from './message.ts';
import { NewAnswers } from './new-answers.ts';
import { webhook } from './webhook.ts';

/** The receivers of notifications; undefined: none. */
export interface NotifySettings {
  /** By setting: the address of a webhook, or recipients of mail. */
  readonly receivers: Readonly<Record<string, URL | EmailSettings | undefined>>;
  /** HEARTBEAT_URL. */
  readonly heartbeatUrl?: URL | undefined;
  /** STATUS_URL. */
  readonly statusUrl?: string | undefined;
}

/** See {@link openNotifier}. */
export interface NotifierOptions extends NotifySettings {
  /** Through the proxy of this machine's network; default: the global one. */
  readonly fetch?: Fetch | undefined;
  /** Stores the deliveries, so that they survive a restart. */
  readonly dataDir: Pick<DataDir, 'deliveries'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a stop waits for the attempts in progress. */
export const STOP_MS = 2_000;

/**
 * Notifies people of problems in the report, of their end, and of new answers. Remembers its deliveries, so that a restart sends
 * nothing twice; after a crash it may repeat a message, but loses none. Never delays its caller, nor one channel another. No call
 * rejects.
 */
export async function openNotifier(options: NotifierOptions) {
  const { heartbeatUrl, statusUrl, dataDir, clock, logger } = options;
  const { fetch = globalThis.fetch } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const opening = receiversOf(options, fetch).map(async (receiver) => {
    const { deliveries } = dataDir;
    const key = [receiver.setting];
    // If it cannot be read, the report says that, and a message may be repeated.
    const kept = await deliveries.read(key).catch(() => null);
    const feed = receiver.setting.startsWith('NOTIFY_NEW_')
      ? new NewAnswers(kept, clock)
      : new Alerts(kept, pageLink(statusUrl), clock);
    const record = (state: unknown): Promise<void> => deliveries.write(key, state);
    return new Channel(receiver, feed, { clock, logger, signal, record });
  });
  const channels = await Promise.all(opening);
  const heartbeat =
    heartbeatUrl && new Heartbeat({ url: heartbeatUrl, fetch, clock, logger, signal });
  let looking: Promise<unknown> = Promise.resolve();
  return {
    /** Why messages or the heartbeat are not delivered, as sentences; null if they are. */
    get deliveryProblem(): string | null {
      const problems = [...channels, heartbeat].flatMap((each) => each?.problem ?? []);
      return problems.join(' ') || null;
    },

    /** Compares a report on fresh readings with the deliveries, and resolves when the news was tried. */
    async look(report: Report): Promise<void> {
      const isBehind = channels.some((channel) => channel.isBehind);
      const looks = channels.map((channel) => channel.look(report));
      looking = Promise.all([...looks, heartbeat?.look(report, isBehind)]);
      await looking;
    },

    /** Waits a moment for messages in progress. */
    async stop(): Promise<void> {
      await withinTime(looking, STOP_MS, clock);
      stopping.abort();
      await looking;
    },
  };
}

/** A receiver that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

/** Sends a test message once. Returns why it did not arrive, as sentences without secrets (L15); null: it did. Never rejects. */
export async function sendTest(
  receiver: Receiver,
  { statusUrl }: NotifySettings,
): Promise<string | null> {
  const message = testMessage(pageLink(statusUrl));
  const { problem } = await receiver.send(message, AbortSignal.timeout(TEST_LIMIT_MS));
  return problem;
}

/** The configured receivers. Opens nothing. */
export const receiversOf = (
  { receivers }: NotifySettings,
  fetch: Fetch = globalThis.fetch,
): Receiver[] =>
  Object.entries(receivers).flatMap(([setting, to]) => {
    if (to === undefined) return [];
    return to instanceof URL ? webhook(setting, to, fetch) : mail(setting, to);
  });
