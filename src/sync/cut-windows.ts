import type { FormWindow } from '../mirror/window.ts';

const DAY_MS = 24 * 60 * 60_000;
/** 1900-01-01 as a day: what is dated before is in the oldest window, which is open to the past. */
const FIRST_DAY = -25_567;

/** How much further back than the last time is looked for the oldest: a form of ten years costs half a dozen requests. */
const STRIDE = 4;

/** So many places are asked about together: one wait for the source takes it three months back, a second one centuries. */
const AT_ONCE = 4;
/** Into how many pieces a span is cut at once: each wait for the source makes them so many times smaller. */
const MOST_PIECES = 8;
/** As many windows are placed at once where submissions are taken to come evenly, each a little smaller than it may be. */
const MOST_PLACED = 64;
const FILLED = 0.95;
/** Cutting stops after so many questions. A form of 40 million submissions takes half of them; absurd counts would never end. */
const MOST_ASKED = 10_000;

/** What is to be cut: the part of a form from a day on, or all of it. */
export interface Cutting {
  /** Where it begins; null: with the oldest submission. */
  readonly from: string | null;
  /** How many submissions it has. */
  readonly total: number;
  /** When it ends: no submission is known to be dated later (canonical time). */
  readonly newest: string;
  /**
   * Between which dates (canonical time) its submissions are likely to lie, and to come evenly: a guess, which costs a request or two
   * where it is wrong. Null: nothing is known.
   */
  readonly likely: readonly [string, string] | null;
  readonly aim: number;
  /** How many submissions the source has in a window; asked for several at once. */
  readonly count: (window: FormWindow) => Promise<number>;
}

/** A window, and how many submissions the source had in it while it was cut. */
export interface CutWindow extends FormWindow {
  readonly total: number;
}

/**
 * Cuts the newest part of a form into windows of at most `aim` submissions by what the source counts, at midnights UTC: the
 * oldest begins where the part does, the newest is open-ended and not empty. In order of time; one window where a single day
 * has it all, or where the counts say nothing. Some two requests a window. Rejects as `count` does.
 */
export async function cutWindows(cutting: Cutting): Promise<CutWindow[]> {
  const { from, total, newest, likely, aim, count } = cutting;
  const end = dayOf(newest) + 1;
  const known = new Map([[end, total]]);
  let asked = 0;
  /** How many are dated before a day. */
  const before = async (day: number): Promise<number> => {
    const found = known.get(day) ?? (asked++, await count({ from, to: startOf(day) }));
    known.set(day, found);
    return found;
  };
  const isSpent = (): boolean => asked >= MOST_ASKED;
  const first = from === null ? FIRST_DAY : dayOf(from);
  const guessed = likely === null ? [] : evenDays(likely, { first, end, total, aim });
  await Promise.all(guessed.map(before));
  let start = guessed[0] ?? end - 1;
  for (let step = 1, found = known.get(start) ?? total; found > 0;) {
    const further = known.has(start) ? [] : [start];
    for (; further.length < AT_ONCE && start > first; step *= STRIDE) {
      start = Math.max(first, start - step);
      further.push(start);
    }
    await Promise.all(further.map(before));
    start = further.find((day) => known.get(day) === 0) ?? start;
    found = start > first ? (known.get(start) ?? 0) : 0;
  }
  const borders = [...known.keys()].filter((day) => day > start).toSorted((a, b) => a - b);
  const marks = [start, ...borders].map((day) => ({ day, total: known.get(day) ?? 0 }));
  const cuts = await Promise.all(
    borders.map(async (day, at) => {
      const [low, high] = marks.slice(at);
      return low && high ? (await split(low, high, { aim, before, isSpent })).concat(day) : [];
    }),
  );
  return merged(cuts.flat(), { from, aim, total }, known);
}

/** Where windows would begin and end if submissions came evenly: the first and the last day, and those at which to cut. */
function evenDays(
  likely: readonly [string, string],
  {
    first,
    end,
    total,
    aim,
  }: Pick<Splitting, 'aim'> & { first: number; end: number; total: number },
): number[] {
  const [low = 0, high = 0] = likely.map(dayOf);
  const [start, stop] = [Math.max(first, low), Math.min(end, high + 1)];
  if (start >= stop) return [];
  const days = new Set([start]);
  let dated = 0;
  // By a number of its own: by an absurd total, each place would be on one day.
  for (let placed = 1; placed < MOST_PLACED && total - dated > aim; placed++) {
    dated += aim * FILLED;
    days.add(start + Math.round(((stop - start) * dated) / total));
  }
  return [...days.add(stop)].filter((day) => day <= stop);
}

interface Border {
  readonly day: number;
  /** How many are dated before it. */
  readonly total: number;
}

interface Splitting {
  /** How many a window is to have at most. */
  readonly aim: number;
  readonly before: (day: number) => Promise<number>;
  readonly isSpent: () => boolean;
}

/** The days at which the span is to be cut, in order. */
async function split(low: Border, high: Border, parts: Splitting): Promise<number[]> {
  const { aim } = parts;
  const many = high.total - low.total;
  const span = high.day - low.day;
  if (many <= aim || span <= 1 || parts.isSpent()) return [];
  const pieces = Math.min(span, MOST_PIECES, 2 * Math.ceil(many / aim));
  const days = Array.from({ length: pieces - 1 }, (_, nth) =>
    Math.floor(low.day + (span * (nth + 1)) / pieces),
  );
  const totals = await Promise.all(days.map(parts.before));
  let from = low;
  const found = [...days.map((day, at) => ({ day, total: totals[at] ?? 0 })), high].map((to) => {
    const cuts = split(from, to, parts);
    from = to;
    return cuts;
  });
  const cuts = await Promise.all(found);
  return cuts.flatMap((between, at) => between.concat(days.slice(at, at + 1)));
}

/** The windows between these days, neighbours taken together where they are small. The last day is the end of all. */
function merged(
  days: readonly number[],
  { from, aim, total }: Pick<Cutting, 'from' | 'total'> & Pick<Splitting, 'aim'>,
  known: ReadonlyMap<number, number>,
): CutWindow[] {
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
  const dated = [0, ...cuts.map((day) => known.get(day) ?? 0), total];
  return [from, ...borders].map((border, at) => ({
    from: border,
    to: borders[at] ?? null,
    total: Math.max(0, (dated[at + 1] ?? 0) - (dated[at] ?? 0)),
  }));
}

const dayOf = (time: string): number => Math.floor(Date.parse(time) / DAY_MS);

const startOf = (day: number): string => new Date(day * DAY_MS).toISOString();
