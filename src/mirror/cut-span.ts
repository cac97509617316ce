import type { TimeGrain } from './time-counts.ts';

/** From `fromMs` on and before `toMs`, milliseconds since the epoch; null: open to that side. */
export interface MsSpan {
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

/** How many rows are dated within the grain that begins then. */
export interface HeldBucket {
  readonly startMs: number;
  readonly rows: number;
}

/** A span with what is held in it, by grain and in order of time. */
export interface HeldSpan extends MsSpan {
  readonly grain: TimeGrain;
  readonly buckets: readonly HeldBucket[];
}

/** How long each grain is. */
export const GRAIN_MS: Readonly<Record<TimeGrain, number>> = {
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1_000,
};

/** Where nothing is held, what lies open is searched from and to there; what is dated beyond is in one piece. */
const [EARLIEST_MS, LATEST_MS] = [0, Date.UTC(2100, 0, 1)];

/**
 * Where to cut a span: on the border of a grain, so that both sides hold about as much. A side may hold nothing, and be cut
 * in the middle of its time next. Null where it has no such border inside: it is as small as its grain.
 *
 * With `betweenNeighbours`, it is the border with the most held right before and right after it, however the halves turn
 * out: there a bound that leaves out its own day shows.
 */
export function cutOf(span: HeldSpan, betweenNeighbours = false): number | null {
  if (span.buckets.length === 0) return middleOf(span);
  const borders = bordersOf(span);
  const best = betweenNeighbours
    ? borders.toSorted((a, b) => b.beside - a.beside)[0]
    : borders.toSorted((a, b) => a.skew - b.skew)[0];
  return best?.atMs ?? null;
}

interface Border {
  readonly atMs: number;
  /** By how much the sides differ. */
  readonly skew: number;
  /** How many are held in the grain before it and in the one after it, whichever has less. */
  readonly beside: number;
}

function bordersOf(span: HeldSpan): Border[] {
  const { fromMs, toMs, grain, buckets } = span;
  const isInside = (ms: number): boolean =>
    (fromMs === null || ms > fromMs) && (toMs === null || ms < toMs);
  const held = buckets.reduce((all, { rows }) => all + rows, 0);
  const borders: Border[] = [];
  let before = 0;
  let last = { endMs: -Infinity, rows: 0 };
  for (const { startMs, rows } of buckets) {
    const endMs = startMs + GRAIN_MS[grain];
    if (isInside(startMs)) {
      const skew = Math.abs(held - 2 * before);
      const beside = startMs === last.endMs ? Math.min(rows, last.rows) : 0;
      borders.push({ atMs: startMs, skew, beside });
    }
    before += rows;
    if (isInside(endMs)) {
      borders.push({ atMs: endMs, skew: Math.abs(held - 2 * before), beside: 0 });
    }
    last = { endMs, rows };
  }
  return borders;
}

function middleOf({ fromMs, toMs, grain }: HeldSpan): number | null {
  const [low, high] = [fromMs ?? EARLIEST_MS, toMs ?? LATEST_MS];
  const size = GRAIN_MS[grain];
  const middle = Math.floor((low + high) / 2 / size) * size;
  if (middle >= high || (fromMs === null ? middle < low : middle <= low)) return null;
  return middle;
}
