import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { span } from '../base/format.ts';
import type { SyncEvents } from '../sync/events.ts';

/** Requests to the source that failed and are to be tried again: nothing comes from it until then. Times since the epoch. */
export interface SourceWait {
  readonly sinceMs: number;
  /** When the last of them is tried again. */
  readonly untilMs: number;
  /** It asks for fewer requests (429). */
  readonly isThrottled: boolean;
  /** In a few words, of the last that failed: `answered 503`. */
  readonly reason: string;
}

/** A wait is over this long after its time if nothing more was heard of it. */
const FORGOTTEN_MS = 45_000;
/** A request without a response is given up after this time, and tried again. */
const ATTEMPT_MS = 30_000;

/** Follows the requests of this process that are to be tried again. */
export class SourceWaits {
  readonly #waits = new Map<string, SourceWait>();
  readonly #clock: Clock;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(events: Events<SyncEvents>, clock: Clock) {
    this.#clock = clock;
    const note = (request: string, sinceMs: number, wait: Omit<SourceWait, 'sinceMs'>): void =>
      void this.#waits.set(request, {
        ...wait,
        sinceMs: this.#waits.get(request)?.sinceMs ?? sinceMs,
      });
    this.#unsubscribe = [
      events.on('forms.retry', ({ request, delayMs, reason }) => {
        const now = clock.now();
        const isThrottled = /\b429\b/.test(reason);
        note(request, now, { untilMs: now + delayMs, isThrottled, reason });
      }),
      events.on('forms.silent', ({ request, silentMs }) => {
        const now = clock.now();
        const reason = `no answer for ${span(silentMs)}`;
        const untilMs = now + ATTEMPT_MS - silentMs;
        note(request, now - silentMs, { untilMs, isThrottled: false, reason });
      }),
      events.on('forms.settled', ({ request }) => void this.#waits.delete(request)),
    ];
  }

  /** All of them together; null when nothing waits. */
  get current(): SourceWait | null {
    const now = this.#clock.now();
    for (const [request, { untilMs }] of this.#waits) {
      if (now - untilMs > FORGOTTEN_MS) this.#waits.delete(request);
    }
    return together([...this.#waits.values()]);
  }

  /** Ends the subscriptions. */
  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }
}

/** Several waits as one: since the first, until the last; null for none. Pure. */
export function together(waits: readonly SourceWait[]): SourceWait | null {
  const last = waits.toSorted((a, b) => b.untilMs - a.untilMs)[0];
  if (last === undefined) return null;
  return {
    ...last,
    sinceMs: Math.min(...waits.map(({ sinceMs }) => sinceMs)),
    isThrottled: waits.some(({ isThrottled }) => isThrottled),
  };
}
