import type { RetryPolicy } from '../base/retry.ts';
import type { PassKind } from '../mirror/types.ts';

/** Intervals, timeouts and retry policies of the queue. Tests shorten them. */
export interface Timings {
  /** How long a job's lock is valid unless its worker renews it. */
  readonly lockDurationMs: number;
  /** How often workers look for stalled jobs; one is taken over at the second look. */
  readonly stalledIntervalMs: number;
  /** How long a worker that the store refused a job waits before it asks again. */
  readonly refusedMs: number;
  /** Least time before a pass first stores how far it has come, and between two times. */
  readonly progressMs: number;
  /** How often the schedules are checked. */
  readonly heartbeatMs: number;
  /** Attempts of a failing job and the waits between them. A full pass is tried until it succeeds. */
  readonly retry: Readonly<Record<PassKind, RetryPolicy>>;
  /** How often and how long a job is postponed while another pass holds its form. */
  readonly busy: RetryPolicy;
  /** How long {@link QueueRuntime.stop} waits for the current batches before it disconnects. */
  readonly stopMs: number;
  /** How long reading the status may take; a page must not hang because the store does. */
  readonly answerMs: number;
  /** How often the embedded store is vacuumed. */
  readonly upkeepMs: number;
}

/**
 * Measured on Redis, PostgreSQL and PGlite alike: a killed worker's job is taken over after some 10 s. A failing
 * incremental pass is tried for about a minute, then the next scheduled run takes over; a failing full one, whose next
 * run is hours away, until it succeeds, every ten minutes at last. No wait is longer than the interval of its kind.
 */
export const DEFAULT_TIMINGS: Timings = {
  lockDurationMs: 10_000,
  stalledIntervalMs: 5_000,
  refusedMs: 5_000,
  progressMs: 2_000,
  heartbeatMs: 15_000,
  retry: {
    incremental: {
      attempts: 5,
      baseDelayMs: 5_000,
      maxDelayMs: 60_000,
      maxServerDelayMs: 60_000,
    },
    full: { attempts: 15, baseDelayMs: 10_000, maxDelayMs: 600_000, maxServerDelayMs: 600_000 },
    // What is still due is asked for again.
    compare: { attempts: 3, baseDelayMs: 10_000, maxDelayMs: 60_000, maxServerDelayMs: 60_000 },
  },
  // Equal jitter: a short job must not come back many times in a second.
  busy: {
    attempts: 40,
    baseDelayMs: 5_000,
    maxDelayMs: 60_000,
    maxServerDelayMs: 60_000,
    jitter: 'equal',
  },
  stopMs: 8_000,
  answerMs: 3_000,
  upkeepMs: 3_600_000,
};
