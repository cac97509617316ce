/**
 * The states of health, worst first. `waiting`: whether the copy is current is not known: no run yet, an overdue one, or a
 * source, queue or target that keeps it waiting. `ended`: no longer mirrored.
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
  /** What to do, as sentences; null when nothing is to be done. */
  readonly remedy: string | null;
  /** The copy is stale that many minutes after the end of its last successful run, with any `state`. */
  readonly staleAfterMinutes: number;
  /** All submissions were stored as of then (milliseconds); null: that was never known. */
  readonly asOfMs: number | null;
}
