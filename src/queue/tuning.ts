import type { RetryPolicy } from '../base/retry-delay.ts';
import type { PassKind } from '../mirror/types.ts';

/** The times by which the queue lives. Tests shorten them. */
export interface Tuning {
  /** A job whose worker has not renewed its lock for so long has lost it. */
  readonly lockDurationMs: number;
  /** How often lost jobs are looked for; one is taken over at the second look. */
  readonly stalledIntervalMs: number;
  /** How often the schedules are looked after. */
  readonly heartbeatMs: number;
  /** Tries of a failing job and the waits between them. */
  readonly retry: Readonly<Record<PassKind, RetryPolicy>>;
  /** Waits while another pass holds the form; the same rules, tries included. */
  readonly busy: RetryPolicy;
  /** How long {@link QueueRuntime.stop} waits for batches in hand before it lets go. */
  readonly stopMs: number;
  /** How long a status may take; a page must not hang because the store does. */
  readonly answerMs: number;
  /** How often the embedded store is vacuumed. */
  readonly upkeepMs: number;
}

/**
 * Measured on Redis, PostgreSQL and PGlite alike: a killed worker's job is taken over after some 10 s. A failing
 * incremental pass is tried for about a minute, then the next tick takes over; a failing full one, whose next tick is
 * hours away, for about an hour.
 */
export const DEFAULT_TUNING: Tuning = {
  lockDurationMs: 10_000,
  stalledIntervalMs: 5_000,
  heartbeatMs: 15_000,
  retry: {
    incremental: {
      attempts: 5,
      baseDelayMs: 5_000,
      maxDelayMs: 60_000,
      maxServerDelayMs: 60_000,
    },
    full: { attempts: 15, baseDelayMs: 10_000, maxDelayMs: 600_000, maxServerDelayMs: 600_000 },
  },
  busy: { attempts: 40, baseDelayMs: 5_000, maxDelayMs: 60_000, maxServerDelayMs: 60_000 },
  stopMs: 8_000,
  answerMs: 3_000,
  upkeepMs: 3_600_000,
};
