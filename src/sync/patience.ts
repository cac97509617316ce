import type { Run } from '../mirror/port.ts';

/*
 * How long a difference between source and target may be mere lag. The API does not say when a submission changed, so a
 * comparison can only read twice: a submission that was unchanged at the source for longer than the next run needs to bring it,
 * and still differs, counts as a difference.
 */

/** The longest time between two polls, and between two comparisons of a row, as the settings say. */
export interface RunIntervals {
  readonly pollMs: number;
  readonly compareMs: number;
}

/** When a run was made. */
export type RunTimes = Pick<Run, 'startedAtMs' | 'endedAtMs'>;

/**
 * The newest runs (newest first) with the newest poll: one that came some time after the last run shows that polls go on, and
 * counts for two.
 */
export function withPoll(runs: readonly RunTimes[], pollAtMs: number | null): readonly RunTimes[] {
  if (pollAtMs === null) return runs;
  const sinceMs = pollAtMs - (runs[0]?.endedAtMs ?? pollAtMs);
  const poll = { startedAtMs: pollAtMs, endedAtMs: pollAtMs };
  return sinceMs > SHORTEST_MS ? [poll, poll, ...runs] : runs;
}

/** How patient a comparison is. */
export interface Patience {
  /** A change younger than this is lag: the next run that finds it has not ended yet. 0: no run is to be expected. */
  readonly explainedMs: number;
  /** How long what differs is looked at again. */
  readonly waitMs: number;
}

/** Without a schedule every difference counts. */
export const NO_PATIENCE: Patience = { explainedMs: 0, waitMs: 0 };

/** The longest wait at a terminal that a person did not ask for. */
export const LONGEST_WAIT_MS = 5 * 60_000;
/** A scheduled job has its own delays. */
const SHORTEST_MS = 10_000;
/** A run over a long form may take minutes, and only its end is recorded. */
const SURELY_IDLE_MS = 10 * 60_000;

/**
 * How patient to be, by the schedule and the newest runs of the form in the target. `wishedMs`: how long a person asked
 * to wait. Where no run has ended for much longer than the schedule explains, no process syncs, and nothing is lag. Where the
 * newest is late, or the only one, it may have been a person's, and waiting for another would be in vain. Comparisons count
 * where they are frequent enough to be waited for.
 */
export function patienceOf(
  { pollMs, compareMs }: RunIntervals,
  runs: readonly RunTimes[],
  nowMs: number,
  wishedMs?: number,
): Patience {
  const longestRunMs = Math.max(0, ...runs.map(lengthOf));
  const within = (everyMs: number): number => Math.max(SHORTEST_MS, 2 * (everyMs + longestRunMs));
  const full = within(compareMs) <= LONGEST_WAIT_MS ? within(compareMs) : 0;
  const explainedMs = Math.max(within(pollMs), full);
  const endedWithin = (ms: number): number =>
    runs.filter(({ endedAtMs }) => nowMs - endedAtMs <= ms).length;
  const isIdle = endedWithin(Math.max(2 * explainedMs, SURELY_IDLE_MS)) === 0;
  const isAtWork = endedWithin(explainedMs) > 0 && endedWithin(2 * explainedMs) > 1;
  const worthMs = isAtWork ? Math.min(explainedMs, LONGEST_WAIT_MS) : 0;
  return { explainedMs: isIdle ? 0 : explainedMs, waitMs: wishedMs ?? worthMs };
}

const lengthOf = ({ startedAtMs, endedAtMs }: RunTimes): number =>
  Math.max(0, endedAtMs - startedAtMs);
