/*
 * Which forms and windows are compared row by row at a tick. Everything is to be compared once in RECONCILE_EVERY, the
 * longest uncompared first, and evenly: each tick does as much as keeps all deadlines when every later tick does as much
 * again. What was read all at once (a first start, `sync --full`) is thereby spread over the ticks of the next period, and
 * stays so. What became overdue (downtime) is caught up with at twice the usual pace and not at once.
 *
 * It keeps no state: when each was last compared is known from the targets, and what is under way from the queue. Pure.
 */

/** What is compared at a time: a form that is one window, or one window of a form. */
export interface Comparable {
  /** When it was last compared, or tried in vain, or is being compared since (milliseconds); null: never. */
  readonly comparedMs: number | null;
  /** It waits to be compared already, or is being compared. */
  readonly isUnderWay: boolean;
  /** About how many requests it takes; 1 at least. */
  readonly cost: number;
}

/** When ticks come, and how soon all is to be compared. */
export interface ComparisonRhythm {
  /** The time of this tick. */
  readonly nowMs: number;
  /** RECONCILE_EVERY. */
  readonly withinMs: number;
  /** How many ticks there are after `fromMs`, until `toMs`. */
  readonly ticksBetween: (fromMs: number, toMs: number) => number;
}

/** How much faster than usual what is overdue is caught up with. */
const CATCH_UP = 2;

/**
 * Those to compare at this tick, the longest uncompared first. They cost no more than twice what a tick does on average, and
 * one comparison.
 */
export function dueComparisons<C extends Comparable>(
  all: readonly C[],
  { nowMs, withinMs, ticksBetween }: ComparisonRhythm,
): C[] {
  const waiting = all
    .filter(({ isUnderWay }) => !isUnderWay)
    .toSorted((a, b) => (a.comparedMs ?? -Infinity) - (b.comparedMs ?? -Infinity));
  if (waiting.length === 0) return [];
  const ticks = Math.max(1, ticksBetween(nowMs, nowMs + withinMs));
  const most = (CATCH_UP * all.reduce((sum, { cost }) => sum + cost, 0)) / ticks;

  // How much all ticks since the last one that compared should have done, and this one is to do in their place: for each
  // deadline, all that is due until then is spread evenly over the ticks from the last comparison to it.
  const lastMs = all.reduce(
    (last, { comparedMs }) => Math.max(last, comparedMs ?? -Infinity),
    -Infinity,
  );
  const ticksSince = Number.isFinite(lastMs) ? Math.max(1, ticksBetween(lastMs, nowMs)) : 1;
  let credit = 0;
  let cost = 0;
  for (const { comparedMs, cost: own } of waiting) {
    cost += own;
    const deadlineMs = Math.min(comparedMs ?? nowMs, nowMs) + withinMs;
    const ticksLeft = comparedMs === null ? 1 : Math.max(1, ticksBetween(nowMs, deadlineMs));
    credit = Math.max(credit, (cost * ticksSince) / (ticksSince + ticksLeft - 1));
  }

  const due: C[] = [];
  let spent = 0;
  for (const next of waiting) {
    if (spent + next.cost > credit + EPSILON || spent >= most) break;
    spent += next.cost;
    due.push(next);
  }
  return due;
}

/** Sums of fractions are not exact. */
const EPSILON = 1e-9;
