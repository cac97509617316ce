import { type Clock, hasPassed } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Report } from '../health/report.ts';
import { type Fetch, request } from './http.ts';

/** The time between two calls. */
export const HEARTBEAT_MS = 60_000;

/** See {@link Heartbeat}. */
export interface HeartbeatOptions {
  /** Usually contains a secret, so only its host is shown (L15). */
  readonly url: URL;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the call in progress. */
  readonly signal: AbortSignal;
}

/**
 * Calls an address (HEARTBEAT_URL) once a minute while nothing has failed, so that a monitoring service notices silence: a dead
 * process, or a machine without a network, cannot report itself in any other way.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #calledAtMs = Number.NEGATIVE_INFINITY;
  #problem: string | null = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Why the last call failed, as sentences; null if it did not. */
  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Calls if a call is due. `isBehind`: whether a message was not delivered. Then the calls stop, so that people can notice the
   * silence. Never rejects.
   */
  async look({ state }: Report, isBehind: boolean): Promise<void> {
    const { url, fetch, clock, logger, signal } = this.#options;
    const nowMs = clock.now();
    if (state === 'failed' || isBehind || signal.aborted) return;
    if (!hasPassed(this.#calledAtMs, HEARTBEAT_MS, nowMs)) return;
    this.#calledAtMs = nowMs;
    const why = await request(fetch, url, signal);
    const before = this.#problem;
    this.#problem = why && `The heartbeat does not arrive: ${why}. Check HEARTBEAT_URL.`;
    // Once, not for each call.
    if (this.#problem !== null && before === null) logger.warn(this.#problem);
    if (this.#problem === null && before !== null) logger.info('The heartbeat arrives again.');
  }
}
