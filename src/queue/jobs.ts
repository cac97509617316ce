import type { JobsOptions } from 'bullmq';
import { z } from 'zod';
import type { PassKind } from '../mirror/types.ts';
import type { Tuning } from './tuning.ts';

/*
 * Names, payloads and options of all jobs.
 *
 * A pass's job has a fixed ID in its queue, the form's slot, and is removed as soon as it ends, well or badly: so a
 * form has at most one job per target and kind, running, waiting or waiting to be retried, and a second one is not
 * added (BullMQ ignores an ID that exists). What a pass did is recorded in its target, not here.
 *
 * A mark's job has an ID of its own: it waits for the passes that were added with it, and BullMQ never moves a pass
 * from one waiting parent to another.
 */

/** The queue in which schedules tick. */
export const PLAN_QUEUE = 'plan';

/** The queue of marking. */
export const MARK_QUEUE = 'mark';

/**
 * The queue of a target's passes of one kind. Full passes have their own: they are long, and new submissions must not
 * wait for them. BullMQ refuses `:` in names.
 */
export function passQueue(kind: PassKind, target: string): string {
  return `${kind === 'full' ? 'full' : 'sync'}.${encodeURIComponent(target)}`;
}

/** The ID of a form's pass in its queue. BullMQ refuses integers and `:`. */
export const slotId = (formId: string): string => `form-${encodeURIComponent(formId)}`;

/** True for an ID that every backend stores unchanged: PostgreSQL refuses NUL and lone surrogates. */
export const isStorable = (id: string): boolean => id.isWellFormed() && !id.includes('\0');

const kind = z.enum(['incremental', 'full']);
const tries = z.number().int().nonnegative().default(0);

/** Payload of a tick: the kind of pass, and the targets known when it was scheduled. */
export const planData = z.object({ kind, targets: z.array(z.string()) });
/** Payload of a pass. `busy`: how often it found another pass at work. */
export const passData = z.object({ formId: z.string(), target: z.string(), kind, busy: tries });
/** Payload of marking one form. */
export const markData = z.object({ formId: z.string(), kind, busy: tries });

/** See {@link planData}. */
export type PlanData = z.infer<typeof planData>;
/** See {@link passData}. */
export type PassData = z.infer<typeof passData>;

/** The name under which workers know our waits between tries. */
export const BACKOFF = 'full-jitter';

/** Stack traces may quote what must not be stored (L11); the message is ours. */
const QUIET = { stackTraceLimit: 0 } as const;

/** Options of a tick. A few old ones are kept for whoever looks into the queue. */
export function planOptions(of: PassKind, tuning: Tuning): JobsOptions {
  return { ...QUIET, ...retried(of, tuning), ...keptForALook };
}

/** Options of marking. */
export function markOptions(of: PassKind, tuning: Tuning): JobsOptions {
  return { ...QUIET, ...retried(of, tuning), ...keptForALook };
}

/** Options of a pass: the slot is free again as soon as it ends. */
export function passOptions(data: PassData, tuning: Tuning): JobsOptions {
  return {
    ...QUIET,
    ...retried(data.kind, tuning),
    jobId: slotId(data.formId),
    removeOnComplete: true,
    removeOnFail: true,
  };
}

const keptForALook: JobsOptions = {
  removeOnComplete: { age: 86_400, count: 50 },
  removeOnFail: { age: 7 * 86_400, count: 200 },
};

function retried(of: PassKind, tuning: Tuning): JobsOptions {
  return { attempts: tuning.retry[of].attempts, backoff: { type: BACKOFF } };
}
