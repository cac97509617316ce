import type { Alert, AlertState } from './alert-state.ts';

/*
 * What reached nobody was not told: an alert that no channel took, tried for some minutes, is taken back, so that the same
 * problem (or its end) is told anew while it lasts.
 */

/** How long nothing is told anew: a channel that is away for long is not asked with every look. */
export const UNTOLD_REST_MS = 10 * 60_000;
/** Each time in vain it is twice as long, so often: one may take messages without ever saying so in time. */
const MAX_DOUBLED = 3;

/** What was known of a subject before it was told in vain. */
interface Untold {
  readonly before: Pick<AlertState, 'subjects' | 'rejected'>;
  /** When it was to be told; since the epoch. */
  readonly atMs: number;
}

/** Alerts that no channel took, by subject. */
export class UntoldAlerts {
  readonly #untold = new Map<string, Untold>();
  /** How often something was told anew since a channel last took anything. */
  #inVain = 0;

  /** To be called when every channel has given an alert up. `before`: the state that it came from. */
  add(alert: Alert, before: AlertState): void {
    const { atMs } = alert;
    for (const subject of keysOf(alert)) this.#untold.set(subject, { before, atMs });
  }

  /** To be called when a channel has taken an alert. */
  taken(): void {
    this.#inVain = 0;
  }

  /** To be called when something is told: what was known before that is of no use any more. */
  forget(alert: Alert): void {
    for (const subject of keysOf(alert)) this.#untold.delete(subject);
  }

  /** The state to go on from: without what was told in vain some time ago. */
  takeBack(state: AlertState, nowMs: number): AlertState {
    const restMs = UNTOLD_REST_MS * 2 ** Math.min(this.#inVain, MAX_DOUBLED);
    const due = [...this.#untold].filter(([, { atMs }]) => {
      // A time that lies ahead was noted under a clock that was wrong.
      return atMs > nowMs || nowMs - atMs >= restMs;
    });
    if (due.length > 0) this.#inVain++;
    for (const [key] of due) this.#untold.delete(key);
    return due.reduce((now, [key, untold]) => without(now, key, untold), state);
  }

  /** The state as it is kept: a restart tells anew what reached nobody. */
  kept(state: AlertState): AlertState {
    return [...this.#untold].reduce((now, [key, untold]) => without(now, key, untold), state);
  }
}

/** What an alert is about: one subject, or several. */
export const keysOf = ({ key, members }: Pick<Alert, 'key' | 'members'>): readonly string[] =>
  members?.map((member) => member.key) ?? [key];

function without(state: AlertState, key: string, { before }: Untold): AlertState {
  return {
    ...state,
    subjects: put(state.subjects, key, before.subjects[key]),
    rejected: put(state.rejected, key, before.rejected[key]),
  };
}

function put<T>(all: Readonly<Record<string, T>>, key: string, value: T | undefined) {
  const { [key]: _told, ...others } = all;
  return value === undefined ? others : { ...others, [key]: value };
}
