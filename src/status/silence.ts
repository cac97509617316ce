/** Slow passes and short stops are no silence. */
const GRACE_MS = 10 * 60_000;
/** A backfill on another worker is seen only when it ends. */
const BUSY_PATIENCE_MS = 6 * 3_600_000;
/** Whoever pauses a target wants silence, but may forget it. */
const PAUSED_PATIENCE_MS = 24 * 3_600_000;

/** What the silence of a form in a target is judged by. */
export interface SilenceFacts {
  /** The last sign of life; or since when one may be expected: the start of this process, the end of an outage. */
  readonly heardMs: number;
  readonly nextDueAt: (afterMs: number) => number;
  readonly paused: boolean;
  /** Passes into this target are at work somewhere. */
  readonly busy: boolean;
}

/** How the silence of one form stands. */
export interface Silence {
  readonly heardMs: number;
  /** Silence begins when nothing is heard for so long. */
  readonly patienceMs: number;
}

/** Two runs of the schedule may be missed; a cron that rests at night has its rest. Pure. */
export function patienceWith({ heardMs, nextDueAt, paused, busy }: SilenceFacts): Silence {
  const twoRuns = nextDueAt(nextDueAt(heardMs)) - heardMs;
  const usual = Math.max(0, twoRuns) + GRACE_MS;
  const patienceMs = Math.max(
    usual,
    busy ? BUSY_PATIENCE_MS : 0,
    paused ? usual + PAUSED_PATIENCE_MS : 0,
  );
  return { heardMs, patienceMs };
}

/** `alone`: some forms are silent, others not. `all`: nothing is heard of any. `unclear`: which of both time will tell. */
export type SilenceScope = 'none' | 'alone' | 'all' | 'unclear';

/** Whether silence is a matter of single forms or of the whole mirror, so that an outage is told once. Pure. */
export function silenceScope(silences: readonly Silence[], nowMs: number): SilenceScope {
  const silent = silences.filter((silence) => isSilent(silence, nowMs));
  if (silent.length === 0) return 'none';
  if (silences.length === 1) return 'alone';
  if (silent.length === silences.length) return 'all';
  const someLively = silences.some(({ heardMs, patienceMs }) => nowMs - heardMs <= patienceMs / 2);
  return someLively ? 'alone' : 'unclear';
}

export const isSilent = ({ heardMs, patienceMs }: Silence, nowMs: number): boolean =>
  nowMs - heardMs > patienceMs;
