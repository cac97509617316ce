import type { PassRecord } from '../mirror/types.ts';

/*
 * How long a difference between source and target may be mere lag. The API does not say when a submission changed, so a
 * comparison can only look twice: what has stood unchanged at the source for longer than the next pass needs to bring it,
 * and still differs, is a difference.
 */

/** The longest time between two passes of each kind, as the settings say. */
export interface PassIntervals {
  readonly incrementalMs: number;
  readonly fullMs: number;
}

/** When a pass ran. */
export type PassTimes = Pick<PassRecord, 'startedAt' | 'endedAt'>;

/**
 * The newest passes (newest first) with the newest look: one that came some time after the last pass shows that somebody goes
 * on looking, and counts for two.
 */
export function withLook(
  passes: readonly PassTimes[],
  lookAt: string | null,
): readonly PassTimes[] {
  if (lookAt === null) return passes;
  const sinceMs = Date.parse(lookAt) - Date.parse(passes[0]?.endedAt ?? lookAt);
  const look = { startedAt: lookAt, endedAt: lookAt };
  return sinceMs > SHORTEST_MS ? [look, look, ...passes] : passes;
}

/** How patient a comparison is. */
export interface Patience {
  /** A change younger than this is lag: the next pass that finds it has not ended yet. 0: no pass is to be expected. */
  readonly explainedMs: number;
  /** How long what differs is looked at again. */
  readonly waitMs: number;
}

/** Without a schedule: whatever differs is a difference. */
export const NO_PATIENCE: Patience = { explainedMs: 0, waitMs: 0 };

/** Nobody sits longer than this before a terminal without having asked for it. */
export const LONGEST_WAIT_MS = 5 * 60_000;
/** A scheduled job has its own delays. */
const SHORTEST_MS = 10_000;
/** A pass over a long form may take minutes, and only its end is recorded. */
const SURELY_IDLE_MS = 10 * 60_000;

/**
 * How patient to be, by the schedule and the newest passes of the form in the target. `wishedMs`: how long a person asked
 * to wait. Where no pass has ended for much longer than the schedule explains, nobody syncs, and nothing is lag. Where the
 * newest is late, or the only one, it may have been a person's, and waiting for another would be in vain. Full passes count
 * where they are frequent enough to be waited for.
 */
export function patienceOf(
  { incrementalMs, fullMs }: PassIntervals,
  passes: readonly PassTimes[],
  nowMs: number,
  wishedMs?: number,
): Patience {
  const longestPassMs = Math.max(0, ...passes.map(lengthOf));
  const within = (everyMs: number): number => Math.max(SHORTEST_MS, 2 * (everyMs + longestPassMs));
  const full = within(fullMs) <= LONGEST_WAIT_MS ? within(fullMs) : 0;
  const explainedMs = Math.max(within(incrementalMs), full);
  const endedWithin = (ms: number): number =>
    passes.filter(({ endedAt }) => nowMs - Date.parse(endedAt) <= ms).length;
  const isIdle = endedWithin(Math.max(2 * explainedMs, SURELY_IDLE_MS)) === 0;
  const isAtWork = endedWithin(explainedMs) > 0 && endedWithin(2 * explainedMs) > 1;
  const worthMs = isAtWork ? Math.min(explainedMs, LONGEST_WAIT_MS) : 0;
  return { explainedMs: isIdle ? 0 : explainedMs, waitMs: wishedMs ?? worthMs };
}

const lengthOf = ({ startedAt, endedAt }: PassTimes): number =>
  Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
