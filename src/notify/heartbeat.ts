import { withinTime } from '../base/clock.ts';
import { type ChannelOptions, STOP_MS } from './channel.ts';
import { type Fetch, failureOf, request } from './http.ts';

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;

/**
 * healthchecks.io answers 200 `OK (not found)` for a check that it does not have (https://healthchecks.io/docs/http_api/),
 * Uptime Kuma's push monitor `{"ok":false}`.
 */
const NOT_KNOWN = /^OK \(not found\)|"ok"\s*:\s*false/;

/**
 * Calls an address (HEARTBEAT_URL) while nothing has failed, so that a monitoring service notices silence: a process that is
 * gone, or a machine without a network, can report itself in no other way.
 */
export class Heartbeat {
  readonly #url: URL;
  readonly #options: ChannelOptions & { readonly fetch: Fetch };
  readonly #stopping = new AbortController();
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #calling: Promise<void> | undefined;
  #problem: string | null = null;

  /** `url` holds a secret as a rule: only its host is shown (L15). */
  constructor(url: string, options: ChannelOptions & { readonly fetch: Fetch }) {
    this.#url = new URL(url);
    this.#options = options;
  }

  /** Why the last call was not taken, as a sentence; null when it was. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Calls, at most once a minute. Returns at once. */
  beat(): void {
    const nowMs = this.#options.clock.now();
    const sinceMs = nowMs - this.#calledAtMs;
    // A clock that was set back must not silence it.
    const isEarly = sinceMs >= 0 && sinceMs < HEARTBEAT_MS;
    if (isEarly || this.#calling !== undefined || this.#stopping.signal.aborted) return;
    this.#calledAtMs = nowMs;
    this.#calling = this.#call().finally(() => (this.#calling = undefined));
  }

  /** Waits a moment for a call in progress. Never rejects. */
  async stop(): Promise<void> {
    await withinTime(this.#calling ?? Promise.resolve(), STOP_MS, this.#options.clock);
    this.#stopping.abort();
    await this.#calling;
  }

  async #call(): Promise<void> {
    const { fetch, logger } = this.#options;
    const why = await this.#failure(fetch);
    if (this.#stopping.signal.aborted) return;
    const problem =
      why === null ? null : `The heartbeat does not arrive: ${why}. Check HEARTBEAT_URL.`;
    if (problem !== null) logger[this.#problem === null ? 'warn' : 'debug'](problem);
    else if (this.#problem !== null) logger.info('The heartbeat arrives again.');
    this.#problem = problem;
  }

  async #failure(fetch: Fetch): Promise<string | null> {
    const { host } = this.#url;
    try {
      const { status, body } = await request(fetch, this.#url, this.#stopping.signal);
      if (status < 200 || status >= 300) return `${host} answers ${status}`;
      return NOT_KNOWN.test(body) ? `${host} does not know the address` : null;
    } catch (error) {
      return failureOf(error, host).why;
    }
  }
}
