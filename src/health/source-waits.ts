import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { exact } from '../base/format.ts';
import type { SyncEvents } from '../sync/sync-log.ts';
import type { Trouble } from './trouble.ts';

/** A request to the source that failed and will be tried again. Times since the epoch. */
interface Wait {
  readonly sinceMs: number;
  /** When it is tried again. */
  readonly untilMs: number;
  /** In a few words: `answered 503`. */
  readonly reason: string;
}

/** Follows the requests of this process that will be tried again. Returns one problem for all that wait; null if none waits. */
export function followWaits(events: Events<SyncEvents>, clock: Clock): () => Trouble | null {
  const waits = new Map<string, Wait>();
  events.on('forms.retry', ({ request, delayMs, reason }) => {
    const nowMs = clock.now();
    const sinceMs = waits.get(request)?.sinceMs ?? nowMs;
    waits.set(request, { sinceMs, untilMs: nowMs + delayMs, reason });
  });
  events.on('forms.settled', ({ request }) => void waits.delete(request));
  return () => {
    const all = [...waits.values()].toSorted((a, b) => b.untilMs - a.untilMs);
    const [last] = all;
    if (last === undefined) return null;
    // Nothing comes from the source from the first of the waits until the last.
    const sinceMs = Math.min(...all.map((wait) => wait.sinceMs));
    const until = exact(last.untilMs);
    const message = all.some(({ reason }) => /\b429\b/.test(reason))
      ? `The Forms API asks for fewer requests: the next is sent at ${until}.`
      : `The Forms API has not answered as it should since ${exact(sinceMs)} (${last.reason}). The request is repeated at ${until}.`;
    return { code: 'SOURCE_WAITING', message, sinceMs };
  };
}
