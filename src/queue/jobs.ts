import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import { PASS_KINDS, type PassKind } from '../mirror/types.ts';
import type { Timings } from './timings.ts';

/*
 * Names, payloads and options of all jobs.
 *
 * A pass's job has its form's ID as job ID and is removed as soon as it ends, whatever its outcome: so a form has at most
 * one job per target and kind, running, waiting or waiting to be retried, and a second one is not added (BullMQ ignores
 * an ID that exists). What a pass did is recorded in its target, not here.
 *
 * A mark's job has an ID of its own: it waits for the passes that were added with it, and BullMQ never moves a pass
 * from one waiting parent to another. Where no pass is needed, there is one mark a form, as there is one pass.
 */

/** The queue of the scheduled jobs, which plan passes. */
export const PLAN_QUEUE = 'plan';

/** The queue of marking. */
export const MARK_QUEUE = 'mark';

/**
 * The queue of a target's passes of one kind. Full passes have their own, with comparisons: they are long, and new
 * submissions must not wait for them. BullMQ refuses `:` in names.
 */
export function passQueue(kind: PassKind, target: string): string {
  return `${isLong(kind) ? 'full' : 'sync'}.${encodeURIComponent(target)}`;
}

/** Whether a pass may take long: then it waits in a queue of its own. */
export const isLong = (kind: PassKind): boolean => kind !== 'incremental';

/** The job ID of a form's pass: its deduplication key. BullMQ refuses integers and `:`. */
export const passJobId = (formId: string): string => `form-${encodeURIComponent(formId)}`;

/** True for an ID that every backend stores unchanged: PostgreSQL refuses NUL and lone surrogates. */
export const isStorable = (id: string): boolean => id.isWellFormed() && !id.includes('\0');

/** The job ID of marking a form that no pass is needed for. */
export const markJobId = (formId: string): string => `mark-${encodeURIComponent(formId)}`;

/** The name of each job: what is called otherwise is not ours. */
export const JOB_NAMES = { plan: 'plan', pass: 'sync', mark: 'mark' } as const;

/*
 * Payloads are parsed strictly, and held against the settings (job-guard.ts): whoever reaches the store can write any job.
 */
const kind = z.enum(PASS_KINDS);
const midnight = z.iso.datetime().nullable();
const formId = z.string().min(1).max(1_000).refine(isStorable);
const target = z.string().min(1).max(100);
const tries = z.number().int().nonnegative();

/** Payload of a scheduled job: the kind of pass, and the targets known when it was scheduled. */
export const planData = z.strictObject({ kind, targets: z.array(target).max(1_000) });
/**
 * Payload of a pass. `busy`: how often it was postponed because another pass was running. `failed`: how often a full pass
 * has failed, and `againAt` when it is tried again (ISO; null until it has failed).
 */
export const passData = z.strictObject({
  formId,
  target,
  kind,
  compareCounts: z.boolean(),
  /** Of a comparison: which windows of the form. */
  windows: z
    .array(z.strictObject({ from: midnight, to: midnight }))
    .max(1_000)
    .optional(),
  counts: z
    .strictObject({
      askedAtMs: z.number(),
      beganMs: z.number().nullable(),
      endedMs: z.number().nullable(),
      statuses: z.record(z.string().max(100), z.number()).nullable(),
    })
    .optional(),
  /** So many absent rows a person has accepted as deleted; left out of ordinary passes. */
  acceptDeletes: z.number().int().positive().optional(),
  busy: tries,
  failed: tries,
  againAt: z.iso.datetime().nullable(),
});
/** Payload of marking one form. */
export const markData = z.strictObject({ formId, kind, busy: tries });

/** See {@link planData}. */
export type PlanData = z.infer<typeof planData>;
/** See {@link passData}. */
export type PassData = z.infer<typeof passData>;

/** The name of our backoff strategy, which every worker registers. */
export const BACKOFF = 'full-jitter';

/** Stack traces may quote what must not be stored (L11); the message is ours. */
const NO_STACK_TRACES = { stackTraceLimit: 0 } as const;

/** Options of a scheduled job. A few that ended are kept for people who inspect the queue. */
export function planOptions(of: PassKind, timings: Timings): JobsOptions {
  return { ...NO_STACK_TRACES, ...retried(of, timings), ...KEPT_FOR_INSPECTION };
}

/** Options of marking. */
export function markOptions(of: PassKind, timings: Timings): JobsOptions {
  return { ...NO_STACK_TRACES, ...retried(of, timings), ...KEPT_FOR_INSPECTION };
}

/** Options of marking a form that no pass is needed for: its job ID is free again as soon as it ends. */
export function markAloneOptions(formId: string, timings: Timings): JobsOptions {
  return {
    ...NO_STACK_TRACES,
    ...retried('incremental', timings),
    jobId: markJobId(formId),
    removeOnComplete: true,
    removeOnFail: true,
  };
}

/** Options of a pass: its job ID is free again as soon as it ends. */
export function passOptions(data: PassData, timings: Timings): JobsOptions {
  return {
    ...NO_STACK_TRACES,
    ...retried(data.kind, timings),
    jobId: passJobId(data.formId),
    removeOnComplete: true,
    removeOnFail: true,
  };
}

const KEPT_FOR_INSPECTION: JobsOptions = {
  removeOnComplete: { age: 86_400, count: 50 },
  removeOnFail: { age: 7 * 86_400, count: 200 },
};

function retried(of: PassKind, timings: Timings): JobsOptions {
  return { attempts: timings.retry[of].attempts, backoff: { type: BACKOFF } };
}
