/**
 * The states of health, worst first. `waiting`: it is not known whether the copy is current, because there was no run yet, a run is
 * overdue, or the source, the queue or the target does not answer. `ended`: no longer mirrored.
 */
export const HEALTH_STATES = [
  'failed',
  'attention',
  'working',
  'waiting',
  'paused',
  'ok',
  'ended',
] as const;
/** One of {@link HEALTH_STATES}. */
export type HealthState = (typeof HEALTH_STATES)[number];

/**
 * A form's health in words, for a target that shows it to people (a sheet). The target judges nothing. It only
 * compares the clock with the limit, because nothing is written into it once the mirror has stopped.
 */
export interface FormHealthText {
  readonly state: HealthState;
  /** A few words: `Up to date`, `The last run failed`. */
  readonly title: string;
  /** Why, as sentences; null when there is nothing to say. */
  readonly message: string | null;
  /** What to do, as sentences; null if there is nothing to do. */
  readonly remedy: string | null;
  /** The copy is stale this many minutes after the end of its last successful run, in any `state`. */
  readonly staleAfterMinutes: number;
  /** All submissions were stored as of this time (milliseconds); null if that was never known. */
  readonly asOfMs: number | null;
}
