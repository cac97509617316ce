import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { exact } from '../base/format.ts';
import type { SyncEvents } from '../sync/events.ts';
import type { Trouble } from './trouble.ts';

/** A request to the source that failed and is to be tried again. Times since the epoch. */
interface Wait {
  readonly sinceMs: number;
  /** When it is tried again. */
  readonly untilMs: number;
  /** The source asks for fewer requests (429). */
  readonly isThrottled: boolean;
  /** In a few words: `answered 503`. */
  readonly reason: string;
}

/** A wait is over this long after its time if nothing more was heard of it. */
const FORGOTTEN_MS = 45_000;

/** Follows the requests of this process that are to be tried again. */
export class SourceWaits {
  readonly #waits = new Map<string, Wait>();
  readonly #clock: Clock;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(events: Events<SyncEvents>, clock: Clock) {
    this.#clock = clock;
    this.#unsubscribe = [
      events.on('forms.retry', ({ request, delayMs, reason }) => {
        const now = clock.now();
        const isThrottled = /\b429\b/.test(reason);
        const sinceMs = this.#waits.get(request)?.sinceMs ?? now;
        this.#waits.set(request, { sinceMs, untilMs: now + delayMs, isThrottled, reason });
      }),
      events.on('forms.settled', ({ request }) => void this.#waits.delete(request)),
    ];
  }

  /** The problem that they wait, all of them together; null when none does. */
  get trouble(): Trouble | null {
    const now = this.#clock.now();
    for (const [request, { untilMs }] of this.#waits) {
      if (now - untilMs > FORGOTTEN_MS) this.#waits.delete(request);
    }
    return troubleOf([...this.#waits.values()]);
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }
}

/** Nothing comes from the source since the first of the waits, and until the last. */
function troubleOf(waits: readonly Wait[]): Trouble | null {
  const last = waits.toSorted((a, b) => b.untilMs - a.untilMs)[0];
  if (last === undefined) return null;
  const sinceMs = Math.min(...waits.map((wait) => wait.sinceMs));
  const [since, until] = [sinceMs, last.untilMs].map((ms) => exact(new Date(ms).toISOString()));
  const message = waits.some(({ isThrottled }) => isThrottled)
    ? `The Forms API asks for fewer requests: the next is sent at ${until}.`
    : `The Forms API has not answered as it should since ${since} (${last.reason}). The request is repeated at ${until}.`;
  return { code: 'SOURCE_WAITING', message, sinceMs };
}
