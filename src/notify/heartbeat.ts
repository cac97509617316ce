import { type Clock, hasPassed } from '../base/clock.ts';
import type { Report } from '../health/report.ts';
import type { Attempt, Due, Feed, Transport } from './channel.ts';
import { type Fetch, failureOf, request } from './http.ts';

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;

/**
 * healthchecks.io answers 200 `OK (not found)` for a check that it does not have (https://healthchecks.io/docs/http_api/),
 * Uptime Kuma's push monitor `{"ok":false}`.
 */
const NOT_KNOWN = /^OK \(not found\)|"ok"\s*:\s*false/;

/** See {@link Heartbeat}. */
export interface HeartbeatOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Whether messages arrive. Where they do not, people can still notice the silence. */
  readonly isDelivered: () => boolean;
}

/**
 * Calls an address (HEARTBEAT_URL) at most once a minute while nothing has failed, so that a monitoring service notices
 * silence: a process that is gone, or a machine without a network, can report itself in no other way.
 */
export class Heartbeat implements Transport<null>, Feed<null> {
  readonly name = 'heartbeat';
  readonly setting = 'HEARTBEAT_URL';
  readonly #url: URL;
  readonly #options: HeartbeatOptions;
  #isWell = false;
  #calledAtMs = Number.NEGATIVE_INFINITY;

  /** `url` holds a secret as a rule: only its host is shown (L15). */
  constructor(url: string, options: HeartbeatOptions) {
    this.#url = new URL(url);
    this.#options = options;
  }

  look({ state }: Report, isFresh: boolean): void {
    this.#isWell = isFresh && state !== 'failed' && this.#options.isDelivered();
  }

  due(): Due<null>[] {
    const nowMs = this.#options.clock.now();
    const taken = (): void => void (this.#calledAtMs = nowMs);
    const isDue = this.#isWell && hasPassed(this.#calledAtMs, HEARTBEAT_MS, nowMs);
    return isDue ? [{ key: this.name, message: null, taken }] : [];
  }

  async send(_content: null, signal: AbortSignal): Promise<Attempt> {
    const why = await this.#failure(signal);
    if (why === null) return { taken: true, problem: null };
    const problem = `The heartbeat does not arrive: ${why}. Check ${this.setting}.`;
    return { taken: false, problem, retry: true };
  }

  async #failure(signal: AbortSignal): Promise<string | null> {
    const { host } = this.#url;
    try {
      const { status, body } = await request(this.#options.fetch, this.#url, signal);
      if (status < 200 || status >= 300) return `${host} answers ${status}`;
      return NOT_KNOWN.test(body) ? `${host} does not know the address` : null;
    } catch (error) {
      return failureOf(error, host).why;
    }
  }
}
