import { type Dispatcher, request } from 'undici';
import type { Clock } from '../base/clock.ts';
import { MirrorError, isAbort } from '../base/errors.ts';
import { networkAgent, proxyFailureIn, type ProxySettings } from '../base/proxy.ts';
import { type RetryDecision, parseRetryAfter } from '../base/retry.ts';
import { loginOf } from '../base/transport.ts';
import { answerOf } from './answer.ts';
import type { Chat, Refusal } from './chats/chat.ts';
import { chatOf } from './chats/chats.ts';
import type { Transport } from './delivery-queue.ts';
import type { Notice } from './notice.ts';

/** See {@link Webhook}. */
export interface WebhookOptions {
  /** Holds a secret as a rule: never shown, only its host is (L15). */
  readonly url: string;
  /** The proxy of this machine's network; used where it leads to the webhook. */
  readonly proxy?: ProxySettings | undefined;
  readonly clock: Clock;
  /** How the webhook is spoken to; by default as its address tells. */
  readonly chat?: Chat | undefined;
}

const TIMEOUT_MS = 10_000;

/** A webhook's refusal. */
class WebhookRefusal extends Error {
  override readonly name = 'WebhookRefusal';
  readonly why: string;
  readonly decision: RetryDecision;

  constructor(why: string, decision: RetryDecision) {
    super(why);
    this.why = why;
    this.decision = decision;
  }
}

/** The webhook of a chat, or of whatever else takes JSON. */
export class Webhook implements Transport {
  readonly #options: WebhookOptions;
  readonly #chat: Chat;
  readonly #host: string;
  readonly #address: URL;
  readonly #agent: Dispatcher;

  constructor(options: WebhookOptions) {
    const url = new URL(options.url);
    this.#options = options;
    this.#chat = options.chat ?? chatOf(options.url);
    this.#host = url.host;
    this.#address = this.#chat.address?.(url) ?? url;
    this.#agent = networkAgent(options.proxy, { connectTimeoutMs: TIMEOUT_MS });
  }

  get name(): string {
    return `webhook (${this.#chat.name}, ${this.#host})`;
  }

  readonly worksAgain = 'The alert webhook takes alerts again.';

  /** A redirect is not followed: the alert would go to an address that nobody has set. */
  async send(notice: Notice, signal: AbortSignal): Promise<undefined> {
    const response = await request(this.#address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'forms-mirror',
        ...loginOf(this.#address),
      },
      body: JSON.stringify(this.#chat.payload(notice)),
      dispatcher: this.#agent,
      signal,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const { statusCode: status, headers } = response;
    if (status < 200 || status >= 300) {
      const header = headers['retry-after'];
      const asked = parseRetryAfter(
        Array.isArray(header) ? header[0] : header,
        this.#options.clock.now(),
      );
      throw this.#refused(status, asked, await this.#detailOf(response));
    }
    const refusal = await this.#refusalIn(response);
    if (refusal !== undefined) throw new WebhookRefusal(refusal.why, { retry: refusal.retry });
  }

  /** Success is an answer: a body that never ends must not have the alert sent twice. */
  async #refusalIn(response: Dispatcher.ResponseData): Promise<Refusal | undefined> {
    const { refusal } = this.#chat;
    if (refusal === undefined) {
      response.body.dump().catch(() => undefined);
      return undefined;
    }
    const body = await answerOf(response, this.#options.clock);
    return body === undefined || response.statusCode !== 200 ? undefined : refusal(body);
  }

  /** What a refusal says besides its status, to those who know its words. */
  async #detailOf(response: Dispatcher.ResponseData): Promise<string | undefined> {
    const { wordOf, waitMs } = this.#chat;
    if (wordOf !== undefined || waitMs !== undefined)
      return answerOf(response, this.#options.clock);
    response.body.dump().catch(() => undefined);
    return undefined;
  }

  #refused(status: number, askedMs: number | undefined, body: string | undefined): WebhookRefusal {
    const waitMs = status === 429 && body !== undefined ? this.#chat.waitMs?.(body) : undefined;
    const word = body === undefined ? undefined : this.#chat.wordOf?.(body);
    const why = `answers ${status}${word === undefined ? '' : ` (${word})`}`;
    const retry = status >= 500 || status === 429 || status === 408;
    return new WebhookRefusal(why, { retry, serverDelayMs: waitMs ?? askedMs });
  }

  decide(error: unknown): RetryDecision {
    if (isAbort(error) || error instanceof MirrorError) return { retry: false };
    const refused = proxyFailureIn(error);
    if (refused !== undefined) return { retry: refused.transient };
    return error instanceof WebhookRefusal ? error.decision : { retry: true };
  }

  whyNot(error: unknown): string {
    const refused = proxyFailureIn(error);
    if (refused !== undefined) {
      return `Alerts are not delivered: ${refused.message}. ${refused.remedy}`;
    }
    const why = error instanceof WebhookRefusal ? error.why : 'cannot be reached';
    return `Alerts are not delivered: ${this.#host} ${why}. Check ALERT_WEBHOOK_URL.`;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
