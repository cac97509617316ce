import { type Clock, hasPassed } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import { type Fetch, request } from './http.ts';

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;

/** See {@link Heartbeat}. */
export interface HeartbeatOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Calls an address (HEARTBEAT_URL) at most once a minute while nothing has failed, so that a monitoring service notices
 * silence: a process that is gone, or a machine without a network, can report itself in no other way.
 */
export class Heartbeat {
  readonly #url: URL;
  readonly #options: HeartbeatOptions;
  readonly #stopping = new AbortController();
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #problem: string | null = null;

  /** `url` holds a secret as a rule: only its host is shown (L15). */
  constructor(url: string, options: HeartbeatOptions) {
    [this.#url, this.#options] = [new URL(url), options];
  }

  /** Why the last call did not arrive, as a sentence; null when it did. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Calls if it is time and nothing has failed. After a call that did not arrive, the next report calls again. */
  async look({ state }: Report): Promise<void> {
    const { fetch, clock, logger } = this.#options;
    const nowMs = clock.now();
    if (state === 'failed' || !hasPassed(this.#calledAtMs, HEARTBEAT_MS, nowMs)) return;
    this.#calledAtMs = nowMs;
    const why = await request(fetch, this.#url, this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    const problem =
      why === null ? null : `The heartbeat does not arrive: ${why}. Check HEARTBEAT_URL.`;
    if (problem !== null) this.#calledAtMs = Number.NEGATIVE_INFINITY;
    if (problem !== null && this.#problem === null) logger.warn(problem);
    this.#problem = problem;
  }

  /** Ends a call in progress. */
  stop(): void {
    this.#stopping.abort();
  }
}
