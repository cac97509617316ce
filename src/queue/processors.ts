import { type Job, UnrecoverableError } from 'bullmq';
import type { z } from 'zod';
import { MirrorError } from '../base/errors.ts';
import { type EndingContext, type RunningJob, runToEnd } from './job-ending.ts';
import { type PassData, markData, passData, planData, slotId } from './jobs.ts';
import { type PlannerContext, addPasses } from './planner.ts';
import type { MirrorWork } from './work.ts';

/** What processing needs. */
export interface ProcessorContext extends EndingContext, PlannerContext {
  readonly work: MirrorWork;
}

/** BullMQ gives a signal only to a function that declares all three. It aborts when the job's lock is lost. */
export type Processor = (job: Job, token?: string, signal?: AbortSignal) => Promise<string>;

/** A full pass that could not prove itself is worth another try or two before its next tick, hours away. */
const INCOMPLETE_RETRIES = 2;

/** Ticks: asks which forms there are and adds their passes. */
export function planProcessor(context: ProcessorContext): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const data = parse(planData, job);
    const subject = { step: 'plan', kind: data.kind, formId: null, target: null } as const;
    const running = { job, token: token ?? '', subject, kind: data.kind, busy: 0 };
    return runToEnd(context, running, async () => {
      const forms = await context.work.plan(either(context.stopping, signal));
      const scheduled = new Set(data.targets);
      const now = forms.map((form) => ({
        formId: form.formId,
        targets: form.targets.filter((target) => scheduled.has(target)),
      }));
      const added = await addPasses(context, now, data.kind);
      context.logger.debug({ kind: data.kind, forms: forms.length, added }, 'Planned.');
      return 'done';
    });
  };
}

/** One pass over one form into one target. */
export function passProcessor(context: ProcessorContext): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const data = parse(passData, job);
    const { formId, target, kind, busy } = data;
    const subject = { step: 'sync', kind, formId, target } as const;
    const running: RunningJob = { job, token: token ?? '', subject, kind, busy };
    return runToEnd(context, running, async () => {
      if (await isSuperseded(context, data)) return 'superseded';
      const outcome = await context.work.pass(
        { formId, target, kind },
        either(context.stopping, signal),
      );
      if (outcome === 'failed') throw new MirrorError('INTERNAL', PASS_FAILED);
      if (outcome === 'incomplete' && kind === 'full' && job.attemptsMade < INCOMPLETE_RETRIES) {
        throw new MirrorError('PASS_INCOMPLETE', 'The full pass has no proof yet.');
      }
      return outcome;
    });
  };
}

/** Marks one form. */
export function markProcessor(context: ProcessorContext): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const { formId, kind, busy } = parse(markData, job);
    const subject = { step: 'mark', kind: null, formId, target: null } as const;
    const running: RunningJob = { job, token: token ?? '', subject, kind, busy };
    return runToEnd(context, running, async () => {
      // Left over from when it was on.
      if (!context.marking) return 'off';
      await context.work.mark({ formId }, either(context.stopping, signal));
      return 'done';
    });
  };
}

const PASS_FAILED = 'The pass failed; its report in the target says why.';

/** A running full pass reads everything that an incremental one would, and holds the form's lock. */
async function isSuperseded(context: ProcessorContext, data: PassData): Promise<boolean> {
  if (data.kind === 'full') return false;
  const full = context.queues.passes('full', data.target);
  return (await full?.getJobState(slotId(data.formId))) === 'active';
}

function either(stopping: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? stopping : AbortSignal.any([stopping, signal]);
}

function parse<Schema extends z.ZodType>(schema: Schema, job: Job): z.infer<Schema> {
  const parsed = schema.safeParse(job.data);
  if (parsed.success) return parsed.data;
  // Thrown outside runToEnd: nothing is known of a job that is not ours.
  throw new UnrecoverableError(
    'The job is not one of ours; it was written by another program or version.',
  );
}
