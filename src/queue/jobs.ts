import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/*
 * Names, payloads, options and times of all jobs.
 *
 * The ID of a job is made from its form's ID, and a job is removed as soon as it ends, with any outcome. So a form has at most
 * one job in each queue, running, waiting or waiting for a retry: BullMQ does not add a second one with an existing ID. The target,
 * not the job, records what a run did.
 */

/** The queues. Each target has its own `sync` and `comparison`: a comparison may take hours, and new submissions must not wait for it. */
export type QueueKind = 'poll' | 'sync' | 'comparison' | 'write-back';

/** The name of a queue. BullMQ refuses `:` in names. */
export const queueName = (kind: QueueKind, target: string | null): string =>
  target === null ? kind : `${kind}.${encodeURIComponent(target)}`;

/** The ID of a form's job. BullMQ refuses integers and `:`. */
export const jobIdOf = (formId: string): string => `form-${encodeURIComponent(formId)}`;

/** The kind of queue for a run. */
export const kindOf = ({ isComparison }: SyncOrder) => (isComparison ? 'comparison' : 'sync');

/* Payloads are parsed strictly and compared with the settings, because anyone with access to the store can write any job. */
const formId = z.string().min(1).max(1_000);
const target = z.string().min(1).max(100);

/** Payload of a run: a `SyncJob` of a poll, or a person's request. */
export const syncData = z.strictObject({
  formId,
  target,
  /** It may take long. */
  isComparison: z.boolean(),
  /** From a poll: see `Polled`. */
  polled: z
    .strictObject({
      atMs: z.number(),
      statuses: z.record(z.string().max(100), z.number()).nullable(),
    })
    .exactOptional(),
  /** How many deletions a person has accepted. */
  acceptDeletes: z.number().int().positive().exactOptional(),
});
/** A request for a run. */
export type SyncOrder = Readonly<z.infer<typeof syncData>>;

/** Payload of a write-back. */
export const writeBackData = z.strictObject({ formId });

/** Options of a job. Nothing is kept after it ends, not even a stack trace, which may quote what must not be stored (L11). */
export const jobOptions = ({ attempts, retryMs }: Timings): JobsOptions => ({
  attempts,
  backoff: { type: 'exponential', delay: retryMs, jitter: 0.5 },
  stackTraceLimit: 0,
  removeOnComplete: true,
  removeOnFail: true,
});

const MINUTE_MS = 60_000;

/** Intervals, timeouts and retries of the queue, measured on Redis, PostgreSQL and PGlite. Tests shorten them. */
export const DEFAULT_TIMINGS = {
  /** How long a job's lock is valid unless its worker renews it. */
  lockDurationMs: 10_000,
  /** How often workers look for stalled jobs. A job is taken over at the second look, after about 10 s. */
  stalledIntervalMs: 5_000,
  /** How long a worker waits before it asks again after the store refused it a job. */
  refusedMs: 5_000,
  /** The least time before a run first stores its progress, and between two times. */
  progressMs: 2_000,
  /** The longest wait for the next poll without checking the clock. */
  heartbeatMs: 15_000,
  /** A poll that waits longer than this, while none is under way, is late. */
  lateMs: MINUTE_MS,
  /**
   * Attempts of a job that failed, was stopped, or met another run, and the waits between them: for about a minute. Then the next
   * poll does its work.
   */
  attempts: 5,
  /** The longest wait before the second attempt. Each further wait is twice as long. */
  retryMs: 5_000,
  /** How long a stop waits for the current batches, and for the store, before it disconnects. */
  stopMs: 10_000,
  /** The longest time for reading the status, because a page must not hang with the store. */
  answerMs: 3_000,
  /** How often the embedded store is vacuumed. */
  upkeepMs: 60 * MINUTE_MS,
};

/** See {@link DEFAULT_TIMINGS}. */
export type Timings = Readonly<typeof DEFAULT_TIMINGS>;
