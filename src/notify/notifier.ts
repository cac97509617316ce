import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { DataDir } from '../health/data-dir.ts';
import type { Report } from '../health/report.ts';
import { Alerts } from './alerts.ts';
import { Channel, type Receiver, isForNews } from './channel.ts';
import { heartbeat, HEARTBEAT_MS, monitor } from './heartbeat.ts';
import type { Fetch } from './http.ts';
import { type EmailSettings, mail } from './mail.ts';
import { pageLink, testMessage } from './message.ts';
import { type CountNewAnswers, NewAnswers } from './new-answers.ts';
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
  readonly newAnswers: CountNewAnswers;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** See {@link openNotifier}. No call rejects. */
export interface Notifier {
  /** Why messages or the heartbeat are not delivered, as sentences; null if they are. */
  readonly deliveryProblem: string | null;
  /** Compares a report on fresh readings with the deliveries, and resolves when the news was tried. */
  look(report: Report): Promise<void>;
  /** Waits a moment for messages in progress. */
  stop(): Promise<void>;
}

/** The longest time between two tries for a receiver that is away. */
const MAX_REST_MS = 5 * 60_000;

/**
 * Notifies people of problems in the report, of their end, and of new answers. Remembers its deliveries, so that a restart sends
 * nothing twice; after a crash it may repeat a message, but loses none. Never delays its caller, nor one channel another. Never
 * rejects.
 */
export async function openNotifier(options: NotifierOptions): Promise<Notifier> {
  const { heartbeatUrl, statusUrl, dataDir, newAnswers, clock, logger } = options;
  const { receivers, fetch = globalThis.fetch } = options;
  // Drops the records of a receiver that is no longer set up: old problems that it was sent must not end in a message.
  for (const [setting, to] of Object.entries(receivers))
    if (to === undefined)
      await dataDir.deliveries
        .of(setting)
        .remove()
        .catch(() => undefined);
  const messages = receiversOf(options, fetch).map(async (receiver) => {
    const { setting } = receiver;
    const record = dataDir.deliveries.of(setting);
    const kept = await record.read().catch((error: unknown) => {
      const text = 'The record of notifications cannot be read; a new one is begun.';
      logger.warn({ err: error, setting }, text);
    });
    const feed = isForNews(setting)
      ? new NewAnswers(kept, newAnswers, clock)
      : new Alerts(kept, pageLink(statusUrl), clock);
    return new Channel(receiver, feed, { clock, logger, maxRestMs: MAX_REST_MS, record });
  });
  const opened = await Promise.all(messages);
  const channels: Pick<Channel, 'look' | 'stop' | 'problem'>[] = [...opened];
  if (heartbeatUrl !== undefined) {
    const calls = heartbeat(clock, () => opened.some(({ isBehind }) => isBehind));
    // Once the monitoring service is back, it must not wait longer than for the next call.
    const how = { clock, logger, maxRestMs: HEARTBEAT_MS };
    channels.push(new Channel(monitor(heartbeatUrl, fetch), calls, how));
  }
  return {
    get deliveryProblem() {
      return channels.flatMap(({ problem }) => problem ?? []).join(' ') || null;
    },
    look: async (report) => void (await Promise.all(channels.map((each) => each.look(report)))),
    stop: async () => void (await Promise.all(channels.map((each) => each.stop()))),
  };
}

/** A receiver that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

/** Sends a test message once. Returns why it did not arrive, as sentences without secrets (L15); null: it did. Never rejects. */
export async function sendTest(
  receiver: Receiver,
  { statusUrl }: NotifySettings,
  clock: Clock,
): Promise<string | null> {
  const message = testMessage(clock.now(), pageLink(statusUrl));
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
