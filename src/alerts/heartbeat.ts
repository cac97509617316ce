import { type Dispatcher, request } from 'undici';
import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { networkAgent, proxyFailureIn, type ProxySettings } from '../base/proxy.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import { STOP_MS } from './delivery-queue.ts';
import { loginOf } from '../base/transport.ts';
import { answerOf } from './answer.ts';

/*
 * A call while nothing has failed, to a service that says so when it stays away: the only alert that a process which is gone, or a
 * machine without a network, can send. healthchecks.io (https://healthchecks.io/docs/http_api/), Uptime Kuma's push
 * monitor, Cronitor and Better Stack all take a GET. The first answers 200 `OK (not found)` for a check that it does not
 * have, the second `{"ok":false}`.
 */

/** See {@link Heartbeat}. */
export interface HeartbeatOptions {
  /** HEARTBEAT_URL: a secret as a rule, only its host is shown (L15). */
  readonly url: string;
  readonly proxy?: ProxySettings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;
const TIMEOUT_MS = 10_000;

/** Calls an address while it is told that all is well. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #host: string;
  readonly #agent: Dispatcher;
  readonly #stopping = new AbortController();
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #calling: Promise<void> | undefined;
  #problem: string | null = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#host = new URL(options.url).host;
    this.#agent = networkAgent(options.proxy, { connectTimeoutMs: TIMEOUT_MS });
  }

  /** Why the last call was not taken, as a sentence; null when it was. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Calls, unless it did a moment ago or a call is under way. Returns at once. To be told of each fresh look at the mirror. */
  beat(isWell: boolean): void {
    const { clock } = this.#options;
    const sinceMs = clock.now() - this.#calledAtMs;
    // A clock that was set back must not silence it.
    const isEarly = sinceMs >= 0 && sinceMs < HEARTBEAT_MS;
    if (!isWell || isEarly || this.#calling !== undefined || this.#stopping.signal.aborted) return;
    this.#calledAtMs = clock.now();
    this.#calling = this.#call().finally(() => (this.#calling = undefined));
  }

  /** Waits a moment for a call under way. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#calling ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#agent.destroy();
    await this.#calling;
  }

  async #call(): Promise<void> {
    try {
      const response = await request(this.#options.url, {
        headers: { 'user-agent': 'forms-mirror', ...loginOf(this.#options.url) },
        dispatcher: this.#agent,
        signal: this.#stopping.signal,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      const { statusCode: status } = response;
      const body = (await answerOf(response, this.#options.clock)) ?? '';
      if (status < 200 || status >= 300) this.#failed(`${this.#host} answers ${status}`);
      else if (NOT_KNOWN.test(body)) this.#failed(`${this.#host} does not know the address`);
      else this.#taken();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const refused = proxyFailureIn(error);
      this.#failed(refused?.message ?? `${this.#host} cannot be reached`, error);
    }
  }

  #taken(): void {
    if (this.#problem !== null) this.#options.logger.info('The heartbeat is taken again.');
    this.#problem = null;
  }

  #failed(why: string, error?: unknown): void {
    const problem = `The heartbeat does not arrive: ${why}. Check HEARTBEAT_URL.`;
    const level = this.#problem === null ? 'warn' : 'debug';
    this.#options.logger[level](error === undefined ? {} : { err: error }, problem);
    this.#problem = problem;
  }
}

/** `OK (not found)`, and `{"ok":false,…}`. */
const NOT_KNOWN = /^OK \(not found\)|"ok"\s*:\s*false/;

/**
 * Whether the mirror, as a fresh look found it, is well enough for a heartbeat: the queue and every target answer, and nothing
 * has failed: no source, target, scheduler or form. What only needs attention, waits or was paused does not silence it. Pure.
 */
export const isWell = ({ state, queue, targets }: MirrorHealth): boolean =>
  state !== 'failed' && queue?.reachable === true && targets.every(({ readable }) => readable);
