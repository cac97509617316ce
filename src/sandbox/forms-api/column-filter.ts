import type { SandboxBehaviour } from './behaviour.ts';
import type { SubmissionColumns } from './submission-columns.ts';

const DAY_MS = 86_400_000;

/** The stamps that a date filter lets through, both ends included; whole milliseconds, infinite where unbounded. */
export interface DateRange {
  readonly lowMs: number;
  readonly highMs: number;
}

/** The range of `dateFrom` and `dateTo`, as the behaviour reads them. */
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

/** Conditions on a submission's columns. */
export interface ColumnCriteria {
  /** The status's number; undefined: any. */
  readonly status: number | undefined;
  readonly range: DateRange;
  /** The stamp that the range speaks of. */
  readonly stamp: 'created' | 'updated';
}

/** Those of the candidates that meet the criteria, in their order: one walk over plain arrays. */
export function filterByColumns(
  { status, createdAtMs, updatedAtMs }: SubmissionColumns,
  candidates: Uint32Array,
  criteria: ColumnCriteria,
): Uint32Array {
  const stamps = criteria.stamp === 'created' ? createdAtMs : updatedAtMs;
  const { lowMs, highMs } = criteria.range;
  const kept = new Uint32Array(candidates.length);
  let length = 0;
  for (const index of candidates) {
    const stamp = stamps[index] ?? 0;
    if (stamp < lowMs || stamp > highMs) continue;
    if (criteria.status !== undefined && status[index] !== criteria.status) continue;
    kept[length++] = index;
  }
  return kept.subarray(0, length);
}

/** The run of candidates within the range, when they are in order of creation: two binary searches, nothing copied. */
export function sliceByCreation(
  { createdAtMs }: SubmissionColumns,
  candidates: Uint32Array,
  { lowMs, highMs }: DateRange,
): Uint32Array {
  const firstWhere = (reached: (ms: number) => boolean): number => {
    let low = 0;
    let high = candidates.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (reached(createdAtMs[candidates[middle] ?? 0] ?? 0)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return candidates.subarray(
    firstWhere((ms) => ms >= lowMs),
    firstWhere((ms) => ms > highMs),
  );
}
