import type { Job } from 'bullmq';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import {
  JOB_NAMES,
  MARK_QUEUE,
  type PassData,
  isStorable,
  markAloneOptions,
  markData,
  markOptions,
  passOptions,
  passQueue,
  passJobId,
} from './jobs.ts';
import type { QueueBackend } from './backends/backend.ts';
import type { AnyQueue, Queues } from './queues.ts';
import type { Timings } from './timings.ts';
import type { FoundWork, PlannedForm } from './handlers.ts';

/*
 * Turns a plan into jobs. Without marking, each form's passes are added by themselves; their job IDs keep any from being
 * added twice. With marking, a form's passes are added as one flow: they are the children of a mark, which runs when all
 * of them have ended, whatever their outcome (`ignoreDependencyOnFailure`).
 *
 * A job ID in use must not become a child: BullMQ would refuse it, and a mark all of whose children were refused would
 * wait for ever. So the IDs in use are read first; when two processes do so at the same moment, the mark of the second
 * is an orphan, and so is one whose children vanished with a removed target. `removeOrphans` finds these: nothing is
 * lost, as the mark of the next scheduled run does the same work.
 */

/** Where jobs are added. */
export interface FlowContext {
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly marking: boolean;
  readonly timings: Timings;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A younger mark is left alone: its children may be about to be added. */
const ORPHAN_AGE_MS = 30_000;

/** Adds the passes that are needed and not waiting or running already, and marks. Returns how many passes were added. */
export async function addPasses(
  context: FlowContext,
  forms: readonly PlannedForm[],
  kind: PassKind,
): Promise<number> {
  const storable = forms.filter((form) => isStorable(form.formId));
  if (storable.length < forms.length) {
    const skipped = forms.length - storable.length;
    context.logger.warn({ skipped }, 'Forms are skipped: no queue can store their IDs.');
  }
  const free = await freePasses(context, storable, kind);
  if (context.marking) {
    for (const [formId, passes] of Map.groupBy(free, (data) => data.formId)) {
      await addFlow(context, passes, formId, kind);
    }
    await addMarks(context, storable);
    await removeOrphans(context, ORPHAN_AGE_MS);
  } else {
    for (const [target, passes] of Map.groupBy(free, (data) => data.target)) {
      const jobs = passes.map((data) => ({
        name: JOB_NAMES.pass,
        data,
        opts: passOptions(data, context.timings),
      }));
      await context.queues.passes(kind, target)?.addBulk(jobs);
    }
  }
  return free.length;
}

/** Removes the passes that wait for another try although the plan has their form no more: they would try for ever. */
export async function removeUnplanned(
  context: FlowContext,
  forms: readonly PlannedForm[],
): Promise<void> {
  for (const target of context.queues.targets) {
    const planned = forms.filter(({ targets }) => targets.includes(target));
    const wanted = new Set(planned.map(({ formId }) => passJobId(formId)));
    const full = context.queues.passes('full', target);
    const delayed = (await full?.getBackend().getRanges(['delayed'], 0, -1))?.flat() ?? [];
    for (const id of delayed) if (!wanted.has(id)) await full?.remove(id);
  }
}

/** The passes whose job IDs are free. One query for each target, however many forms there are. */
async function freePasses(
  context: FlowContext,
  forms: readonly PlannedForm[],
  kind: PassKind,
): Promise<PassData[]> {
  const inUse = new Map<string, ReadonlySet<string>>();
  for (const target of context.queues.targets) {
    const queue = context.queues.passes(kind, target);
    if (queue !== undefined) inUse.set(target, await jobIdsIn(queue, IN_USE));
  }
  return forms.flatMap((form) => {
    const { formId } = form;
    return wantedPasses(form)
      .filter(({ target }) => inUse.get(target)?.has(passJobId(formId)) === false)
      .map((wanted) => passOf(formId, kind, wanted));
  });
}

function passOf(
  formId: string,
  kind: PassKind,
  { target, compareCounts, counts, windows, acceptDeletes }: FoundWork['passes'][number],
): PassData {
  const pass = { formId, target, kind, compareCounts, busy: 0, failed: 0, againAt: null };
  return {
    ...pass,
    ...(counts === undefined ? {} : { counts: { ...counts } }),
    ...(windows === undefined ? {} : { windows: [...windows] }),
    ...(acceptDeletes === undefined ? {} : { acceptDeletes }),
  };
}

const wantedPasses = ({ targets, found }: PlannedForm): FoundWork['passes'] =>
  found?.passes ?? targets.map((target) => ({ target, compareCounts: false }));

/** Adds marks of forms that wait to be marked and need no pass, which one would follow; not those that are waiting already. */
async function addMarks(context: FlowContext, forms: readonly PlannedForm[]): Promise<void> {
  const alone = forms.filter(({ found }) => found?.mark === true && found.passes.length === 0);
  if (alone.length === 0) return;
  await context.queues.mark.addBulk(
    alone.map(({ formId }) => ({
      name: JOB_NAMES.mark,
      data: { formId, kind: 'incremental', busy: 0 },
      opts: markAloneOptions(formId, context.timings),
    })),
  );
}

/** A job in one of these states keeps its ID from others. */
export const IN_USE = ['delayed', 'waiting', 'prioritized', 'active'] as const;

/** The IDs of the jobs in these states. One query, however many there are. */
export async function jobIdsIn(
  queue: AnyQueue,
  states: readonly (typeof IN_USE)[number][],
): Promise<Set<string>> {
  return new Set((await queue.getBackend().getRanges([...states], 0, -1)).flat());
}

/** Adds passes as the children of one mark. BullMQ refuses those whose job IDs are in use: if all are, the mark is an orphan. */
export async function addFlow(
  context: FlowContext,
  passes: readonly PassData[],
  formId: string,
  kind: PassKind,
): Promise<void> {
  const { backend, timings } = context;
  await context.queues.flows.add({
    name: JOB_NAMES.mark,
    queueName: backend.queueName(MARK_QUEUE),
    data: { formId, kind, busy: 0 },
    opts: markOptions(kind, timings),
    children: passes.map((data) => ({
      name: JOB_NAMES.pass,
      queueName: backend.queueName(passQueue(data.kind, data.target)),
      data,
      opts: { ...passOptions(data, timings), ignoreDependencyOnFailure: true },
    })),
  });
}

/** Removes marks that wait for passes which do not exist. Returns how many were removed. */
export async function removeOrphans(context: FlowContext, ageMs: number): Promise<number> {
  const youngest = context.clock.now() - ageMs;
  const waiting = await context.queues.mark.getJobs(['waiting-children'], 0, 999, true);
  let removed = 0;
  for (const mark of waiting) {
    if (mark.timestamp > youngest || (await hasChild(context, mark))) continue;
    // It may have started since: then it is no orphan.
    if ((await mark.getState()) !== 'waiting-children') continue;
    await mark.remove();
    removed++;
  }
  return removed;
}

async function hasChild(context: FlowContext, mark: Job): Promise<boolean> {
  const data = markData.safeParse(mark.data);
  if (!data.success) return false;
  for (const target of context.queues.targets) {
    const queue = context.queues.passes(data.data.kind, target);
    const child = await queue?.getJob(passJobId(data.data.formId));
    if (child?.parent?.id === mark.id) return true;
  }
  return false;
}
