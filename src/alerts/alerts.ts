import { type Clock, withinTime } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { ProxySettings } from '../base/proxy.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import {
  type Alert,
  ALERTS_VERSION,
  type AlertState,
  NO_ALERTS,
  parseAlertState,
} from './alert-state.ts';
import { DeliveryQueue, type Transport } from './delivery-queue.ts';
import { Email, type EmailSettings } from './email.ts';
import { evaluateAll } from './grouping.ts';
import { Heartbeat, isWell } from './heartbeat.ts';
import { KeptFile } from './kept-file.ts';
import { alertNotice, testNotice } from './notice.ts';
import { keysOf, UntoldAlerts } from './untold.ts';
import { Webhook } from './webhook.ts';

/** Where alerts go. */
export interface ChannelSettings {
  /** ALERT_WEBHOOK_URL. */
  readonly url?: string | undefined;
  readonly email?: EmailSettings | undefined;
  /** STATUS_URL. */
  readonly statusUrl?: string | undefined;
  /** The proxy of this machine's network. */
  readonly proxy?: ProxySettings | undefined;
}

/** Where alerts go, and where their state is kept. */
export interface AlertSettings extends ChannelSettings {
  /** HEARTBEAT_URL. */
  readonly heartbeatUrl?: string | undefined;
  /** Keeps the state over a restart, so that nothing is sent twice; undefined: only in memory. */
  readonly stateFile?: string | undefined;
}

/** See {@link Alerts.open}. */
export interface AlertOptions extends AlertSettings {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
}

/** What became of a test message in one channel. */
export interface ChannelResult {
  /** `webhook (Slack, hooks.slack.com)`. */
  readonly channel: string;
  readonly ok: boolean;
  /** What happened, as a sentence; holds no secret (L15). */
  readonly message: string;
}

/**
 * Notifies people of what health finds wrong, and when it is resolved. Compares the mirror as a whole, so that one cause
 * makes one alert; remembers what it sent. Never holds up a pass, nor one channel another.
 */
export class Alerts {
  readonly #options: AlertOptions;
  readonly #transports: readonly Transport[];
  readonly #channels: readonly DeliveryQueue[];
  readonly #file: KeptFile<AlertState>;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #untold = new UntoldAlerts();
  #state: AlertState;

  private constructor(options: AlertOptions, file: KeptFile<AlertState>, state: AlertState) {
    this.#options = options;
    this.#file = file;
    this.#state = state;
    this.#transports = transportsOf(options);
    this.#channels = this.#transports.map(
      (transport) => new DeliveryQueue(transport, { ...options, onIdle: () => this.#save() }),
    );
    const { heartbeatUrl: url, proxy, clock, logger } = options;
    this.#heartbeat = url === undefined ? undefined : new Heartbeat({ url, proxy, clock, logger });
  }

  /** Reads the state of before; one that cannot be read is an empty one. Rejects with OTHER_SCHEMA where another build wrote it. */
  static async open(options: AlertOptions): Promise<Alerts> {
    const { stateFile: path, logger } = options;
    const kept = { what: 'alert state', path, version: ALERTS_VERSION, logger };
    const file = new KeptFile({ ...kept, parse: parseAlertState });
    return new Alerts(options, file, (await file.read()) ?? NO_ALERTS);
  }

  /** Why alerts are not delivered, or the heartbeat is not, as sentences; null when they are. */
  get deliveryProblem(): string | null {
    const problems = [...this.#undelivered(), this.#heartbeat?.problem ?? null];
    const said = problems.filter((problem) => problem !== null);
    return said.length === 0 ? null : said.join(' ');
  }

  /** True while an alert is on its way. */
  get isSending(): boolean {
    return this.#channels.some(({ isBusy }) => isBusy);
  }

  /**
   * Compares health with what was sent, and sends what is new. `isFresh`: targets and queue were read just now, not only a
   * pass has ended. Returns at once.
   */
  evaluate(health: MirrorHealth, isFresh: boolean): void {
    // Where nobody is told, nothing counts as told.
    if (this.#channels.length > 0) this.#tell(health, isFresh);
    if (!isFresh) return;
    // Where alerts do not arrive, silence is the only one that does.
    this.#heartbeat?.beat(isWell(health) && this.#undelivered().length === 0);
  }

  /** Sends a test message through every channel, each once, and tells what became of it. Never rejects. */
  test(): Promise<ChannelResult[]> {
    return testEach(this.#transports, this.#options);
  }

  /** Waits a moment for alerts under way. Never rejects. */
  async stop(): Promise<void> {
    await Promise.all([
      ...this.#channels.map((channel) => channel.stop()),
      this.#heartbeat?.stop(),
    ]);
    await this.#file.written();
  }

  #tell(health: MirrorHealth, isFresh: boolean): void {
    const before = this.#untold.takeBack(this.#state, health.nowMs);
    const { state, alerts } = evaluateAll(before, health, isFresh);
    this.#state = state;
    for (const alert of alerts) this.#send(alert, before);
    // With alerts under way it is kept once they are delivered: after a crash they are sent again, rather than never.
    if (alerts.length === 0) this.#save();
  }

  #undelivered(): string[] {
    return this.#channels.flatMap(({ deliveryProblem }) => deliveryProblem ?? []);
  }

  /** It counts as told unless every channel gives it up. */
  #send(alert: Alert, before: AlertState): void {
    const { status, opens } = alert;
    const notice = alertNotice(alert, this.#options.statusUrl ?? null);
    this.#untold.forget(alert);
    let left = this.#channels.length;
    const onGivenUp = (): void => {
      if (--left === 0) this.#untold.add(alert, before);
    };
    const onDelivered = (): void => this.#untold.taken();
    const delivery = { notice, keys: keysOf(alert), status, opens, onDelivered, onGivenUp };
    for (const channel of this.#channels) channel.send(delivery);
  }

  #save(): void {
    if (!this.isSending) this.#file.write(this.#untold.kept(this.#state));
  }
}

/** Sends a test message through every channel that is set up, without anything else running. Never rejects. */
export async function testChannels(
  settings: ChannelSettings & Pick<AlertOptions, 'clock'>,
): Promise<ChannelResult[]> {
  const transports = transportsOf(settings);
  const results = await testEach(transports, settings);
  await Promise.all(transports.map((transport) => transport.close()));
  return results;
}

/** The channels that are set up, by their names for people. */
export const channelNames = (settings: ChannelSettings & Pick<AlertOptions, 'clock'>): string[] =>
  transportsOf(settings).map(({ name }) => name);

function transportsOf({
  url,
  email,
  proxy,
  clock,
}: ChannelSettings & Pick<AlertOptions, 'clock'>): Transport[] {
  return [
    ...(url === undefined ? [] : [new Webhook({ url, proxy, clock })]),
    ...(email === undefined ? [] : [new Email(email)]),
  ];
}

/** A channel that takes longer does not work. */
const TEST_LIMIT_MS = 60_000;

function testEach(
  transports: readonly Transport[],
  { statusUrl, clock }: Pick<AlertOptions, 'statusUrl' | 'clock'>,
): Promise<ChannelResult[]> {
  const notice = testNotice(clock.now(), statusUrl ?? null);
  return Promise.all(
    transports.map(async (transport) => {
      const { name: channel } = transport;
      const stop = new AbortController();
      try {
        const sending = transport.send(notice, stop.signal).then((gap) => ({ gap }));
        const sent = await withinTime(sending, TEST_LIMIT_MS, clock);
        if (sent === undefined) throw new MirrorError('INTERNAL', 'It takes too long.');
        const { gap } = sent;
        return { channel, ok: gap === undefined, message: gap ?? 'A test message was taken.' };
      } catch (error) {
        return { channel, ok: false, message: transport.whyNot(error) };
      } finally {
        stop.abort();
      }
    }),
  );
}
