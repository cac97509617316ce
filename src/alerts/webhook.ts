import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../base/clock.ts';
import { withinTime } from '../base/deadline.ts';
import { MirrorError, isAbort } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { LinkedSignal } from '../base/linked-signal.ts';
import { throughProxy } from '../base/proxy-dispatcher.ts';
import { proxyFailureIn } from '../base/proxy-failure.ts';
import { type ProxySettings, proxyFor } from '../base/proxy.ts';
import { type RetryDecision, type RetryPolicy, parseRetryAfter, withRetry } from '../base/retry.ts';
import type { AlertMessage } from './message.ts';

/** See {@link WebhookChannel}. */
export interface WebhookOptions {
  /** Holds a secret as a rule: never shown, only its host is (L15). */
  readonly url: string;
  /** The proxy of this machine's network; used where it leads to the webhook. */
  readonly proxy?: ProxySettings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  /** Called when everything handed over has been delivered or given up; not when a stop cut it short. */
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
/** For a webhook that takes nothing for minutes. */
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

/** An alert on its way. */
export interface Delivery {
  readonly body: AlertMessage;
  /** Names its subject. */
  readonly key: string;
  readonly status: 'firing' | 'repeated' | 'resolved';
  /** True for the first of its subject: if that never arrives, nobody is to be sent its end. */
  readonly opens: boolean;
}

interface Sending extends Delivery {
  /** Aborts when its subject is well again: what has not arrived by then is not sent any more. */
  readonly over: AbortController;
}

/** Posts alerts one after the other, without holding up its caller. What cannot be delivered is given up, and logged once. */
export class WebhookChannel {
  readonly #options: WebhookOptions;
  readonly #host: string;
  readonly #agent: Dispatcher;
  readonly #stopping = new AbortController();
  #waiting: Sending[] = [];
  #current: Sending | undefined;
  /** Subjects whose first alert has not arrived. */
  readonly #unheardOf = new Set<string>();
  #sending: Promise<void> | undefined;
  #deliveryProblem: string | null = null;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#host = new URL(options.url).host;
    const proxy = proxyFor(options.url, options.proxy);
    this.#agent =
      proxy === undefined
        ? new Agent({ connect: { timeout: TIMEOUT_MS } })
        : throughProxy(proxy, { connectTimeoutMs: TIMEOUT_MS });
  }

  /** Why the last alert could not be delivered, as a sentence; null when it was. */
  get deliveryProblem(): string | null {
    return this.#deliveryProblem;
  }

  /** True while an alert is on its way. */
  get isBusy(): boolean {
    return this.#sending !== undefined;
  }

  /** Hands an alert over; returns at once. The end of what has not arrived takes both back. */
  send(delivery: Delivery): void {
    if (this.#stopping.signal.aborted) return;
    if (delivery.status === 'resolved') this.#takeBack(delivery.key);
    this.#waiting.push({ ...delivery, over: new AbortController() });
    if (this.#waiting.length > MAX_WAITING) this.#giveUp(this.#waiting.shift());
    this.#sending ??= this.#sendUntilIdle();
  }

  async #sendUntilIdle(): Promise<void> {
    // More may be handed over while one round comes to its end.
    do await this.#sendAll();
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted);
    this.#sending = undefined;
    if (!this.#stopping.signal.aborted) this.#options.onIdle?.();
  }

  /** Waits a moment for what is being sent, then gives up. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#sending ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#agent.destroy();
    await this.#sending;
  }

  #takeBack(key: string): void {
    if (this.#current?.key === key) this.#current.over.abort();
    const late = this.#waiting.filter((sending) => sending.key === key);
    this.#waiting = this.#waiting.filter((sending) => sending.key !== key);
    for (const sending of late) this.#giveUp(sending);
  }

  #giveUp(sending: Sending | undefined): void {
    if (sending?.opens === true) this.#unheardOf.add(sending.key);
  }

  async #sendAll(): Promise<void> {
    await Promise.resolve();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.status === 'resolved' && this.#unheardOf.delete(next.key)) continue;
      this.#current = next;
      try {
        await this.#deliver(next);
        this.#unheardOf.delete(next.key);
        this.#delivered();
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#giveUp(next);
        if (!next.over.signal.aborted) this.#givenUp(error);
      } finally {
        this.#current = undefined;
      }
    }
  }

  /** A post under way is waited for: it may have arrived. */
  async #deliver({ body, over }: Sending): Promise<void> {
    const { clock, random } = this.#options;
    using stop = new LinkedSignal(this.#stopping.signal, over.signal);
    await withRetry(async () => this.#post(body), {
      policy: POLICY,
      clock,
      ...(random === undefined ? {} : { random }),
      signal: stop.signal,
      decide: decideRetry,
    });
  }

  /** A redirect is not followed: the alert would go to an address that nobody has set. */
  async #post(body: AlertMessage): Promise<void> {
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
    if (this.#deliveryProblem !== null)
      this.#options.logger.info('The alert webhook takes alerts again.');
    this.#deliveryProblem = null;
  }

  #givenUp(error: unknown): void {
    const problem = `Alerts are not delivered: ${whyNot(error, this.#host)}`;
    // Once, not for each alert: the log is not to be flooded by what it reports about.
    const level = this.#deliveryProblem === null ? 'warn' : 'debug';
    this.#options.logger[level]({ err: error }, problem);
    this.#deliveryProblem = problem;
  }
}

function whyNot(error: unknown, host: string): string {
  const refused = proxyFailureIn(error);
  if (refused !== undefined) return `${refused.message}. ${refused.remedy}`;
  const why = error instanceof WebhookRefusal ? `answers ${error.status}` : 'cannot be reached';
  return `${host} ${why}. Check ALERT_WEBHOOK_URL.`;
}

function decideRetry(error: unknown): RetryDecision {
  if (isAbort(error) || error instanceof MirrorError) return { retry: false };
  const refused = proxyFailureIn(error);
  if (refused !== undefined) return { retry: refused.transient };
  if (!(error instanceof WebhookRefusal)) return { retry: true };
  const { status, retryAfterMs } = error;
  return { retry: status >= 500 || status === 429 || status === 408, serverDelayMs: retryAfterMs };
}
