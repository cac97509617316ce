/** Slow passes and short stops do not make a copy stale. */
const GRACE_MS = 10 * 60_000;
/** A backfill on another worker is seen only when it ends. */
const BUSY_LIMIT_MS = 6 * 3_600_000;

/** What the staleness of a form in a target is judged by. */
export interface StalenessFacts {
  /** The last sign of life; or since when one can be expected: the start of this process, the end of an outage. */
  readonly heardMs: number;
  /** When the schedule wants the next pass after one that began at `afterMs`. */
  readonly nextRunMs: (afterMs: number) => number;
  /** Passes into this target are running somewhere. */
  readonly busy: boolean;
}

/** How fresh one form in one target is. */
export interface Staleness {
  readonly heardMs: number;
  /** It is stale once there was no sign of life for longer. */
  readonly limitMs: number;
}

/** Two runs of the schedule may be missed, wherever they fall: a cron may rest at night. Pure. */
export function stalenessOf({ heardMs, nextRunMs, busy }: StalenessFacts): Staleness {
  const twoRuns = nextRunMs(nextRunMs(heardMs)) - heardMs;
  const usual = Math.max(0, twoRuns) + GRACE_MS;
  return { heardMs, limitMs: Math.max(usual, busy ? BUSY_LIMIT_MS : 0) };
}

export const isStale = ({ heardMs, limitMs }: Staleness, nowMs: number): boolean =>
  nowMs - heardMs > limitMs;

/** `some`: single forms are stale. `all`: every form is. `unclear`: some are, and the others may be about to. */
export type StalenessScope = 'none' | 'some' | 'all' | 'unclear';

/** Whether single forms are stale or the whole mirror, so that one outage makes one alert. Pure. */
export function stalenessScope(forms: readonly Staleness[], nowMs: number): StalenessScope {
  const stale = forms.filter((form) => isStale(form, nowMs));
  if (stale.length === 0) return 'none';
  if (forms.length === 1) return 'some';
  if (stale.length === forms.length) return 'all';
  const isAnyFresh = forms.some(({ heardMs, limitMs }) => nowMs - heardMs <= limitMs / 2);
  return isAnyFresh ? 'some' : 'unclear';
}

/** Three passes may be missed before a sheet calls a form stale by itself; not less, as it is not written at each pass. */
const MISSED_PASSES = 3;
const LEAST_SHEET_LIMIT_MINUTES = 45;

/** The limit for a target that knows nothing but the clock. `gapMs`: the longest time between two runs of the schedule. */
export function sheetLimitMinutes(gapMs: number): number {
  return Math.max(LEAST_SHEET_LIMIT_MINUTES, Math.ceil((MISSED_PASSES * gapMs) / 60_000));
}
