import type { SandboxBehaviour } from './behaviour.ts';

const DAY_MS = 86_400_000;

/** The stamps that a date filter lets through, both ends included; whole milliseconds, infinite where unbounded. */
export interface DateRange {
  readonly lowMs: number;
  readonly highMs: number;
}

/** What `dateFrom` and `dateTo` let through, as the behaviour reads them. */
export function dateRangeOf(
  fromMs: number | undefined,
  toMs: number | undefined,
  { dateGrain, dateFrom, dateTo }: SandboxBehaviour,
): DateRange {
  const grainMs = dateGrain === 'day' ? DAY_MS : 1;
  // The first millisecond of the grain that holds a time, or of a later one.
  const startOf = (ms: number, later: number): number =>
    (Math.floor(ms / grainMs) + later) * grainMs;
  return {
    lowMs:
      fromMs === undefined
        ? Number.NEGATIVE_INFINITY
        : startOf(fromMs, dateFrom === 'inclusive' ? 0 : 1),
    highMs:
      toMs === undefined
        ? Number.POSITIVE_INFINITY
        : startOf(toMs, dateTo === 'inclusive' ? 1 : 0) - 1,
  };
}
