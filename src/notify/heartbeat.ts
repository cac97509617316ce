import { type Clock, hasPassed } from '../base/clock.ts';
import type { Feed, Receiver } from './channel.ts';
import { type Fetch, request } from './http.ts';

/*
 * Calls to an address (HEARTBEAT_URL), so that a monitoring service notices silence: a dead process, or a machine without a
 * network, cannot report itself in any other way.
 */

/** The time between two calls. */
export const HEARTBEAT_MS = 60_000;

/**
 * A call is due once a minute while nothing has failed. `isBehind`: whether a message was not delivered. Then the calls stop, so
 * that people can notice the silence.
 */
export function heartbeat(clock: Clock, isBehind: () => boolean): Feed<null> {
  let calledAtMs = Number.NEGATIVE_INFINITY;
  return {
    kept: null,
    due({ state }) {
      const nowMs = clock.now();
      if (state === 'failed' || isBehind()) return [];
      if (!hasPassed(calledAtMs, HEARTBEAT_MS, nowMs)) return [];
      return [{ content: null, taken: () => void (calledAtMs = nowMs) }];
    },
  };
}

/** The calls. `url` usually contains a secret, so only its host is shown (L15). */
export function monitor(url: URL, fetch: Fetch): Receiver<null> {
  const setting = 'HEARTBEAT_URL';
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
