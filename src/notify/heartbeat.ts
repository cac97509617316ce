import { type Clock, hasPassed } from '../base/clock.ts';
import type { Report } from '../health/report.ts';
import type { Due, Feed, Transport } from './channel.ts';
import { type Fetch, request } from './http.ts';

/*
 * Calls to an address (HEARTBEAT_URL), so that a monitoring service notices silence: a process that is gone, or a machine without a
 * network, can report itself in no other way.
 */

/** How long it is silent between two calls. */
export const HEARTBEAT_MS = 60_000;

/** A call is due once a minute while nothing has failed and people do not wait for a message. */
export class Heartbeat implements Feed<null> {
  readonly kept = null;
  readonly #clock: Clock;
  readonly #isBehind: () => boolean;
  #calledAtMs = Number.NEGATIVE_INFINITY;

  /** `isBehind`: whether a message was not delivered. Where one does not arrive, people can still notice the silence. */
  constructor(clock: Clock, isBehind: () => boolean) {
    [this.#clock, this.#isBehind] = [clock, isBehind];
  }

  due({ state }: Report): Due<null>[] {
    const nowMs = this.#clock.now();
    if (state === 'failed' || this.#isBehind()) return [];
    if (!hasPassed(this.#calledAtMs, HEARTBEAT_MS, nowMs)) return [];
    const taken = (): void => void (this.#calledAtMs = nowMs);
    return [{ key: 'call', content: null, taken }];
  }
}

/** The calls. `address` holds a secret as a rule: only its host is shown (L15). */
export function monitor(address: string, fetch: Fetch): Transport<null> {
  const [url, setting] = [new URL(address), 'HEARTBEAT_URL'];
  return {
    setting,
    name: `heartbeat (${url.host})`,
    async send(_, signal) {
      const why = await request(fetch, url, signal);
      const problem = why && `The heartbeat does not arrive: ${why}. Check ${setting}.`;
      return { taken: why === null, problem };
    },
  };
}
