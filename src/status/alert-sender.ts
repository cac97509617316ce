import { Agent, request } from 'undici';
import type { Clock } from '../base/clock.ts';
import { MirrorError, isAbort } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type RetryVerdict, withRetry } from '../base/retry.ts';
import { type RetryPolicy, parseRetryAfter } from '../base/retry-delay.ts';
import type { AlertBody } from './alert-text.ts';
import { withinTime } from './time-limit.ts';

/** What {@link AlertSender} needs. */
export interface AlertSenderOptions {
  /** Holds a secret as a rule: never shown, only its host is (L15). */
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  /** Told when everything that was handed over has been delivered or given up; not when a stop cut it short. */
  readonly onIdle?: () => void;
}

/** Outlasts a short outage of a chat; an alert that comes later than that is stale. */
const POLICY: RetryPolicy = {
  attempts: 8,
  baseDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxServerDelayMs: 120_000,
};
const TIMEOUT_MS = 10_000;
/** Of a webhook that takes nothing for minutes. */
const MAX_WAITING = 100;
/** How long a stop waits for what is being sent. */
export const STOP_MS = 2_000;

/** A webhook's refusal. */
class WebhookRefusal extends Error {
  override readonly name = 'WebhookRefusal';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(`answered ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Posts alerts one after the other, off everybody's way. What cannot be delivered is given up and told once. */
export class AlertSender {
  readonly #options: AlertSenderOptions;
  readonly #host: string;
  readonly #agent = new Agent({ connect: { timeout: TIMEOUT_MS } });
  readonly #stopping = new AbortController();
  #waiting: AlertBody[] = [];
  #sending: Promise<void> | undefined;
  #trouble: string | null = null;

  constructor(options: AlertSenderOptions) {
    this.#options = options;
    this.#host = new URL(options.url).host;
  }

  /** Why the last alert could not be delivered, as a sentence; null when it was. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** True while an alert is on its way. */
  get isBusy(): boolean {
    return this.#sending !== undefined;
  }

  /** Hands an alert over; returns at once. */
  send(body: AlertBody): void {
    if (this.#stopping.signal.aborted) return;
    this.#waiting.push(body);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (!this.#stopping.signal.aborted) this.#options.onIdle?.();
    });
  }

  /** Waits a moment for what is being sent, then lets go. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#agent.destroy();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let body = this.#waiting.shift(); body !== undefined; body = this.#waiting.shift()) {
      try {
        await this.#deliver(body);
        this.#delivered();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#givenUp(error);
      }
    }
  }

  async #deliver(body: AlertBody): Promise<void> {
    const { clock, random } = this.#options;
    await withRetry(async () => this.#post(body), {
      policy: POLICY,
      clock,
      ...(random === undefined ? {} : { random }),
      signal: this.#stopping.signal,
      judge: judgeFailure,
    });
  }

  /** A redirect is not followed: the alert would go to an address that nobody has set. */
  async #post(body: AlertBody): Promise<void> {
    const { url, clock } = this.#options;
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'forms-mirror' },
      body: JSON.stringify(body),
      dispatcher: this.#agent,
      signal: this.#stopping.signal,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const retryAfter = response.headers['retry-after'];
    // Its status is the answer: a body that never ends must not have the alert sent twice.
    response.body.dump().catch(() => undefined);
    if (response.statusCode >= 200 && response.statusCode < 300) return;
    const header = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    throw new WebhookRefusal(response.statusCode, parseRetryAfter(header, clock.now()));
  }

  #delivered(): void {
    if (this.#trouble !== null) this.#options.logger.info('The alert webhook takes alerts again.');
    this.#trouble = null;
  }

  #givenUp(error: unknown): void {
    const why = error instanceof WebhookRefusal ? `answers ${error.status}` : 'cannot be reached';
    const trouble = `Alerts are not delivered: ${this.#host} ${why}. Check ALERT_WEBHOOK_URL.`;
    // Once, not for each alert: the log is not to be flooded by what it reports about.
    const level = this.#trouble === null ? 'warn' : 'debug';
    this.#options.logger[level]({ err: error }, trouble);
    this.#trouble = trouble;
  }
}

function judgeFailure(error: unknown): RetryVerdict {
  if (isAbort(error) || error instanceof MirrorError) return { retry: false };
  if (!(error instanceof WebhookRefusal)) return { retry: true };
  const { status, retryAfterMs } = error;
  return { retry: status >= 500 || status === 429 || status === 408, serverDelayMs: retryAfterMs };
}
