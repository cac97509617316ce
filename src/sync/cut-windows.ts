import type { FormWindow } from '../mirror/window.ts';

const DAY_MS = 24 * 60 * 60_000;
/** 1900-01-01 as a day: what is dated before is in the oldest window, which is open to the past. */
const FIRST_DAY = -25_567;

/** What is to be cut: the part of a form from a day on, or all of it. */
export interface Cutting {
  /** Where it begins; null: with the oldest submission. */
  readonly from: string | null;
  /** How many submissions it has. */
  readonly total: number;
  /** The date of one of its newest submissions (canonical time). */
  readonly newest: string;
  readonly aim: number;
  /** How many submissions the source has in a window. */
  readonly count: (window: FormWindow) => Promise<number>;
}

/**
 * Cuts the newest part of a form into windows of at most `aim` submissions by what the source counts, at midnights UTC: the
 * oldest begins where the part does, the newest is open-ended and not empty. In order of time; one window where a single day
 * has it all, or where the counts say nothing. Some two requests a window. Rejects as `count` does.
 */
export async function cutWindows({
  from,
  total,
  newest,
  aim,
  count,
}: Cutting): Promise<FormWindow[]> {
  const end = dayOf(newest) + 1;
  const known = new Map([[end, total]]);
  /** How many are dated before a day. */
  const before = async (day: number): Promise<number> => {
    const found = known.get(day) ?? (await count({ from, to: startOf(day) }));
    known.set(day, found);
    return found;
  };
  const first = from === null ? FIRST_DAY : dayOf(from);
  let start = end - 1;
  // Twice as far back each time, so that a form of ten years costs a dozen requests.
  for (let step = 1; start > first && (await before(start)) > 0; step *= 2)
    start = Math.max(first, start - step);
  const borders = [...known.keys()].filter((day) => day > start).toSorted((a, b) => a - b);
  const days: number[] = [];
  let low = { day: start, total: start > first ? (known.get(start) ?? 0) : 0 };
  for (const day of borders) {
    const high = { day, total: known.get(day) ?? total };
    await halve(low, high, { aim, before, days });
    days.push(day);
    low = high;
  }
  return merged(days, { from, aim, total }, known);
}

interface Border {
  readonly day: number;
  /** How many are dated before it. */
  readonly total: number;
}

/** Adds the days at which the span is to be cut, in order. */
async function halve(
  low: Border,
  high: Border,
  parts: { aim: number; before: (day: number) => Promise<number>; days: number[] },
): Promise<void> {
  if (high.total - low.total <= parts.aim || high.day - low.day <= 1) return;
  const day = Math.floor((low.day + high.day) / 2);
  const middle = { day, total: await parts.before(day) };
  await halve(low, middle, parts);
  parts.days.push(day);
  await halve(middle, high, parts);
}

/** The windows between these days, neighbours taken together where they are small. The last day is the end of all. */
function merged(
  days: readonly number[],
  { from, aim, total }: Pick<Cutting, 'from' | 'aim' | 'total'>,
  known: ReadonlyMap<number, number>,
): FormWindow[] {
  const cuts: number[] = [];
  let start = 0;
  for (const [at, day] of days.slice(0, -1).entries()) {
    const here = known.get(day) ?? 0;
    const next = known.get(days[at + 1] ?? day) ?? total;
    // The newest is not to be empty: it tells how far the copy reaches.
    if (next - start <= aim || here <= start || here >= total) continue;
    cuts.push(day);
    start = here;
  }
  const borders = cuts.map(startOf);
  return [from, ...borders].map((border, at) => ({ from: border, to: borders[at] ?? null }));
}

const dayOf = (time: string): number => Math.floor(Date.parse(time) / DAY_MS);

const startOf = (day: number): string => new Date(day * DAY_MS).toISOString();
