import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { exact, span } from '../base/format.ts';
import type { SyncEvents } from '../sync/events.ts';
import type { Problem } from './problem.ts';
import { remedyFor } from './problem.ts';

/** Requests to the source that failed and are to be tried again: nothing comes from it meanwhile. Times since the epoch. */
export interface SourceWait {
  readonly sinceMs: number;
  /** When the last of them is tried again. */
  readonly untilMs: number;
  /** It asks for fewer requests (429). */
  readonly throttled: boolean;
  /** In a few words, of the last that failed: `answered 503`. */
  readonly reason: string;
  /** It has not failed yet: a request has had no answer for long, and goes on waiting. */
  readonly silent?: boolean | undefined;
}

/** A wait that nothing was heard of for so long after its time is over, however it ended. */
const FORGOTTEN_MS = 45_000;

/** A request that gets no answer is given up after so long, and tried again. */
const ATTEMPT_MS = 30_000;

/** Follows the requests of this process that are to be tried again. */
export class SourceWaits {
  readonly #waits = new Map<string, SourceWait>();
  readonly #clock: Clock;
  readonly #unsubscribe: readonly (() => void)[];

  constructor(events: Events<SyncEvents>, clock: Clock) {
    this.#clock = clock;
    this.#unsubscribe = [
      events.on('forms.retry', ({ request, delayMs, reason }) => {
        const now = clock.now();
        const sinceMs = this.#waits.get(request)?.sinceMs ?? now;
        const throttled = /\b429\b/.test(reason);
        this.#waits.set(request, { sinceMs, untilMs: now + delayMs, throttled, reason });
      }),
      events.on('forms.silent', ({ request, silentMs }) => {
        const now = clock.now();
        const sinceMs = this.#waits.get(request)?.sinceMs ?? now - silentMs;
        const reason = `no answer for ${span(silentMs)}`;
        const untilMs = now + ATTEMPT_MS - silentMs;
        this.#waits.set(request, { sinceMs, untilMs, throttled: false, reason, silent: true });
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
  const last = waits.reduce<SourceWait | null>(
    (found, wait) => (found === null || wait.untilMs > found.untilMs ? wait : found),
    null,
  );
  if (last === null) return null;
  return {
    ...last,
    sinceMs: Math.min(...waits.map(({ sinceMs }) => sinceMs)),
    throttled: waits.some(({ throttled }) => throttled),
  };
}

/** Waiting as a problem to show. It becomes one to alert of when the tries are used up and passes fail. Pure. */
export function waitProblem({ sinceMs, untilMs, throttled, reason }: SourceWait): Problem {
  const [since, until] = [new Date(sinceMs).toISOString(), new Date(untilMs).toISOString()];
  const message = throttled
    ? `It asks for fewer requests: the next is sent at ${exact(until)}.`
    : `It has not answered as it should since ${exact(since)} (${reason}); tried again at ${exact(until)}.`;
  return {
    level: 'warning',
    code: 'SOURCE_WAITING',
    title: throttled
      ? `Waiting on the source: throttled until ${exact(until)}`
      : `Waiting on the source: not answering since ${exact(since)}`,
    message,
    remedy: remedyFor('SOURCE_WAITING'),
    command: null,
    since,
  };
}
