import type { Job } from 'bullmq';
import { MirrorError } from '../base/errors.ts';
import { type JobContext, type RunningJob, runJob } from './job-outcome.ts';
import { ownPayload, requirePlanned, requireQueue } from './job-guard.ts';
import {
  isLong,
  JOB_NAMES,
  type PassData,
  markData,
  passData,
  passJobId,
  planData,
} from './jobs.ts';
import { type FlowContext, addPasses, removeUnplanned } from './flows.ts';
import { asLogged, type JobHandlers, type PlannedForm } from './handlers.ts';
import { addComparisons, comparisonsUnderWay } from './comparison-jobs.ts';
import { progressWriter } from './job-progress.ts';
import { type SchedulerContext, keepRhythm } from './scheduler.ts';

/** What the processors work with. */
export type ProcessorContext = JobContext &
  FlowContext &
  SchedulerContext & { readonly handlers: JobHandlers; readonly fullPasses: FullPasses };

/** BullMQ gives a signal only to a function that declares all three. It aborts when the job's lock is lost. */
export type Processor = (job: Job, token?: string, signal?: AbortSignal) => Promise<string>;

/** A full pass that could not prove itself is tried again once or twice: its next scheduled run is hours away. */
const INCOMPLETE_RETRIES = 2;

/** The scheduled job: asks which forms there are and adds their passes. */
export function planProcessor(context: ProcessorContext): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const data = ownPayload(context, job, JOB_NAMES.plan, planData);
    const subject = { step: 'plan', kind: data.kind, formId: null, target: null } as const;
    const running = { job, token: token ?? '', signal, subject, kind: data.kind, busy: 0 };
    return runJob(context, running, async (stop) => {
      // BullMQ has set the next run when it gave out this one.
      await keepRhythm(context, data.kind);
      const forms = await context.handlers.plan(stop, data.kind);
      const now = forms.map((form) => within(form, new Set(data.targets)));
      await removeUnplanned(context, now);
      const added = await addPasses(context, now, data.kind);
      const compared = data.kind === 'full' ? 0 : await compare(context, data.targets, stop);
      const about = { kind: data.kind, forms: forms.length, added, compared };
      context.logger.debug(about, 'Planned.');
      return 'done';
    });
  };
}

/** What there is to do of a form for the targets that have queues. */
function within({ formId, targets, found }: PlannedForm, scheduled: Set<string>): PlannedForm {
  const passes = found?.passes.filter(({ target }) => scheduled.has(target)) ?? [];
  return {
    formId,
    targets: targets.filter((target) => scheduled.has(target)),
    found: found && { ...found, passes },
  };
}

/** Adds the comparisons that are due. Returns how many. */
async function compare(
  context: ProcessorContext,
  targets: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const underWay = await comparisonsUnderWay(context);
  const due = await context.handlers.comparisons(underWay, signal);
  return addComparisons(
    context,
    due.filter(({ target }) => targets.includes(target)),
  );
}

/** One pass over one form, of the kind and into the target that its queue is for. */
export function passProcessor(
  context: ProcessorContext,
  queue: Pick<PassData, 'kind' | 'target'>,
): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const data = ownPayload(context, job, JOB_NAMES.pass, passData);
    const { formId, target, kind, compareCounts, counts, busy, windows, acceptDeletes } = data;
    const isHere = target === queue.target && isLong(kind) === isLong(queue.kind);
    requireQueue(context, job, isHere);
    const subject = { step: 'sync', kind, formId, target } as const;
    const again = kind === 'full' ? { failed: data.failed } : {};
    const running: RunningJob = { job, token: token ?? '', signal, subject, kind, busy, ...again };
    return runJob(context, running, async (stop) => {
      await requirePlanned(context, job, { formId, target }, stop);
      if (await isSuperseded(context, data)) return 'superseded';
      const onProgress = progressWriter(job, context.clock, context.timings.progressMs);
      using _running = context.fullPasses.note(data);
      const pass = {
        formId,
        target,
        kind,
        ...(compareCounts ? { compareCounts } : {}),
        ...(counts === undefined ? {} : { counts }),
        ...(windows === undefined ? {} : { windows }),
        ...(acceptDeletes === undefined ? {} : { acceptDeletes }),
      };
      const outcome = await context.handlers.pass(pass, stop, onProgress);
      if (outcome === 'failed') throw asLogged(new MirrorError('INTERNAL', PASS_FAILED));
      if (outcome === 'incomplete' && kind === 'full' && data.failed < INCOMPLETE_RETRIES) {
        throw asLogged(new MirrorError('RUN_INCOMPLETE', 'The full pass has no proof yet.'));
      }
      return outcome;
    });
  };
}

/** Marks one form. */
export function markProcessor(context: ProcessorContext): Processor {
  return async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    const { formId, kind, busy } = ownPayload(context, job, JOB_NAMES.mark, markData);
    const subject = { step: 'mark', kind: null, formId, target: null } as const;
    const running: RunningJob = { job, token: token ?? '', signal, subject, kind, busy };
    return runJob(context, running, async (stop) => {
      // Added while marking was on.
      if (!context.marking) return 'off';
      await requirePlanned(context, job, { formId, target: null }, stop);
      await context.handlers.mark({ formId }, stop);
      return 'done';
    });
  };
}

const PASS_FAILED = 'The pass failed; its report in the target says why.';

/** The full passes that this process runs. */
export class FullPasses {
  readonly #running = new Map<object, string>();

  /** Notes one, until it is disposed of; nothing of another kind. */
  note(data: PassData): Disposable {
    const key = {};
    if (data.kind === 'full') this.#running.set(key, keyOf(data));
    return { [Symbol.dispose]: () => void this.#running.delete(key) };
  }

  /** Whether one of this form and target runs here. */
  has(data: PassData): boolean {
    return this.#running.values().toArray().includes(keyOf(data));
  }
}

const keyOf = ({ formId, target }: PassData): string => JSON.stringify([formId, target]);

/**
 * A running full pass reads everything that an incremental one would, and holds the form's lock. A comparison of windows
 * does not: it holds the lock for a short time, and the incremental pass waits for it.
 */
async function isSuperseded(context: ProcessorContext, data: PassData): Promise<boolean> {
  if (isLong(data.kind)) return false;
  if (context.fullPasses.has(data)) return true;
  // There is no other process that could run one, and the store takes as long to answer as a small pass.
  if (context.backend.kind === 'embedded') return false;
  const queue = context.queues.passes('full', data.target);
  const job = await queue?.getJob(passJobId(data.formId));
  if (job === undefined || !(await job.isActive())) return false;
  return passData.safeParse(job.data).data?.kind === 'full';
}
