import { type Count, type Grain, GRAINS } from './port.ts';

/** Milliseconds of a grain; null for one that does not divide. */
export const GRAIN_MS: Readonly<Record<Grain, number>> = {
  all: Infinity,
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1_000,
  millisecond: 1,
};

/** Grains from the coarsest one that divides time down to `finest`. */
export const grainsTo = (finest: Grain): Grain[] => GRAINS.slice(1, GRAINS.indexOf(finest) + 1);

/**
 * The moment that best halves what is counted, strictly within [fromMs, toMs); null where these counts have none.
 */
export function halve(
  counts: readonly Count[],
  fromMs: number | null,
  toMs: number | null,
): number | null {
  const byTime = new Map<number, number>();
  let sum = 0;
  for (const { fromMs: at, count } of counts) {
    if (at === null) continue;
    byTime.set(at, (byTime.get(at) ?? 0) + count);
    sum += count;
  }
  let [before, best, distance] = [0, null as number | null, Infinity];
  for (const [at, count] of [...byTime].toSorted(([a], [b]) => a - b)) {
    const isInside = (fromMs === null || at > fromMs) && (toMs === null || at < toMs);
    const off = Math.abs(before - sum / 2);
    // Nothing lies before the first moment: a cut there divides nothing.
    if (isInside && before > 0 && off < distance) [best, distance] = [at, off];
    before += count;
  }
  return best;
}

/** Moments that cut what is counted into parts of about `size`. */
export function cutsOf(counts: readonly Count[], size: number): number[] {
  const byTime = new Map<number, number>();
  for (const { fromMs: at, count } of counts)
    if (at !== null) byTime.set(at, (byTime.get(at) ?? 0) + count);
  const cuts: number[] = [];
  let since = 0;
  for (const [at, count] of [...byTime].toSorted(([a], [b]) => a - b)) {
    if (since >= size) {
      cuts.push(at);
      since = 0;
    }
    since += count;
  }
  return cuts;
}
