import { sumOf } from '../mirror/form-state.ts';
import { type Count, GRAIN_MS, type ReadForm } from '../mirror/port.ts';
import { atStep, type Profile, stepOf, type Span } from './profile.ts';

/* Where to divide a form by date: by the number of submissions that the target accounts for at each time. */

/** The moment, at a step of the source, that halves the submissions of a span; null if none does. */
export async function middleOf(
  of: Pick<ReadForm, 'counts'>,
  profile: Profile,
  span: Span,
): Promise<number | null> {
  const stepMs = stepOf(profile);
  if (stepMs === null) return null;
  const lengthMs = span.fromMs === null || span.toMs === null ? Infinity : span.toMs - span.fromMs;
  for (const grain of ['day', 'millisecond'] as const) {
    if (lengthMs <= GRAIN_MS[grain] || GRAIN_MS[grain] < stepMs) continue;
    const cut = halve(await of.counts(span, grain), span.fromMs, span.toMs);
    if (cut !== null) return atStep(cut, stepMs);
  }
  return null;
}

/** The moment that best halves the counted submissions, strictly within [fromMs, toMs). Null if no moment divides them. */
function halve(
  counts: readonly Count[],
  fromMs: number | null,
  toMs: number | null,
): number | null {
  const dated = byTime(counts);
  const sum = sumOf(dated.map(([, count]) => count));
  let [before, best, distance] = [0, null as number | null, Infinity];
  for (const [at, count] of dated) {
    const isInside = (fromMs === null || at > fromMs) && (toMs === null || at < toMs);
    const off = Math.abs(before - sum / 2);
    // Nothing precedes the first moment, so a cut there divides nothing.
    if (isInside && before > 0 && off < distance) [best, distance] = [at, off];
    before += count;
  }
  return best;
}

/** The dated counts of all statuses, the oldest first. */
function byTime(counts: readonly Count[]): [atMs: number, count: number][] {
  const sums = new Map<number, number>();
  for (const { fromMs: at, count } of counts)
    if (at !== null) sums.set(at, (sums.get(at) ?? 0) + count);
  return [...sums].toSorted(([a], [b]) => a - b);
}

/** Moments that cut the counted submissions into parts of about `size`. */
export function cutsOf(counts: readonly Count[], size: number): number[] {
  const cuts: number[] = [];
  let since = 0;
  for (const [at, count] of byTime(counts)) {
    if (since >= size) {
      cuts.push(at);
      since = 0;
    }
    since += count;
  }
  return cuts;
}
