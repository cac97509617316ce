import { type Clock, hasPassed } from '../base/clock.ts';
import type { Report } from '../health/report.ts';
import type { Attempt, Due, Feed, Transport } from './channel.ts';
import { type Fetch, request } from './http.ts';

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;

/**
 * Calls an address (HEARTBEAT_URL) at most once a minute while nothing has failed, so that a monitoring service notices
 * silence: a process that is gone, or a machine without a network, can report itself in no other way.
 */
export class Heartbeat implements Transport<null>, Feed<null> {
  readonly name = 'heartbeat';
  readonly setting = 'HEARTBEAT_URL';
  readonly #url: URL;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  #isWell = false;
  #calledAtMs = Number.NEGATIVE_INFINITY;

  /** `url` holds a secret as a rule: only its host is shown (L15). */
  constructor(url: string, fetch: Fetch, clock: Clock) {
    [this.#url, this.#fetch, this.#clock] = [new URL(url), fetch, clock];
  }

  look({ state }: Report): void {
    this.#isWell = state !== 'failed';
  }

  due(): Due<null>[] {
    const nowMs = this.#clock.now();
    const taken = (): void => void (this.#calledAtMs = nowMs);
    const isDue = this.#isWell && hasPassed(this.#calledAtMs, HEARTBEAT_MS, nowMs);
    return isDue ? [{ key: this.name, message: null, taken }] : [];
  }

  async send(_content: null, signal: AbortSignal): Promise<Attempt> {
    const why = await request(this.#fetch, this.#url, signal);
    const problem =
      why === null ? null : `The heartbeat does not arrive: ${why}. Check ${this.setting}.`;
    return { taken: why === null, problem };
  }
}
