import type { Job } from 'bullmq';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import {
  MARK_QUEUE,
  type PassData,
  isStorable,
  markData,
  markOptions,
  passOptions,
  passQueue,
  slotId,
} from './jobs.ts';
import type { QueueBackend } from './backends.ts';
import type { AnyQueue, Queues } from './queues.ts';
import type { Tuning } from './tuning.ts';
import type { PlannedForm } from './work.ts';

/*
 * From a plan to jobs. Without marking, each form's passes are added by themselves; their slots see to it that none is
 * added twice. With marking, a form's free slots are filled by one flow: the passes are the children of a mark, which
 * runs when all of them have ended, well or badly (`ignoreDependencyOnFailure`).
 *
 * A slot in use must not become a child: BullMQ would refuse it, and a mark all of whose children were refused would
 * wait for ever. So slots are looked at first; when two planners did so at the same moment, the loser's mark is an
 * orphan, and so is one whose children vanished with a removed target. `removeOrphans` finds these: nothing is lost,
 * as the next tick's mark does the same work.
 */

/** What planning needs. */
export interface PlannerContext {
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly marking: boolean;
  readonly tuning: Tuning;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A mark younger than this is left alone: its children may be on their way. */
const ORPHAN_AGE_MS = 30_000;

/** Adds what is not waiting or running already. Returns how many passes were added. */
export async function addPasses(
  context: PlannerContext,
  forms: readonly PlannedForm[],
  kind: PassKind,
): Promise<number> {
  const storable = forms.filter((form) => isStorable(form.formId));
  if (storable.length < forms.length) {
    const leftOut = forms.length - storable.length;
    context.logger.warn({ leftOut }, 'Forms are left out: no queue can store their IDs.');
  }
  const free = await freePasses(context, storable, kind);
  if (context.marking) {
    for (const [formId, passes] of Map.groupBy(free, (data) => data.formId)) {
      await addFlow(context, passes, formId, kind);
    }
    await removeOrphans(context, ORPHAN_AGE_MS);
  } else {
    for (const [target, passes] of Map.groupBy(free, (data) => data.target)) {
      const jobs = passes.map((data) => ({
        name: 'sync',
        data,
        opts: passOptions(data, context.tuning),
      }));
      await context.queues.passes(kind, target)?.addBulk(jobs);
    }
  }
  return free.length;
}

/** The passes whose slots are free: one question for each target, however many forms there are. */
async function freePasses(
  context: PlannerContext,
  forms: readonly PlannedForm[],
  kind: PassKind,
): Promise<PassData[]> {
  const taken = new Map<string, ReadonlySet<string>>();
  for (const target of context.queues.targets) {
    const queue = context.queues.passes(kind, target);
    if (queue !== undefined) taken.set(target, await slotsInUse(queue));
  }
  return forms.flatMap(({ formId, targets }) =>
    targets
      .filter((target) => taken.get(target)?.has(slotId(formId)) === false)
      .map((target) => ({ formId, target, kind, busy: 0 })),
  );
}

async function slotsInUse(queue: AnyQueue): Promise<Set<string>> {
  const states = ['delayed', 'waiting', 'prioritized', 'active'] as const;
  return new Set((await queue.getBackend().getRanges([...states], 0, -1)).flat());
}

/**
 * Adds passes as the children of one mark. Refused are those that are in their slots already: when all are, the mark
 * is an orphan.
 */
export async function addFlow(
  context: PlannerContext,
  passes: readonly PassData[],
  formId: string,
  kind: PassKind,
): Promise<void> {
  const { backend, tuning } = context;
  await context.queues.flows.add({
    name: 'mark',
    queueName: backend.queueName(MARK_QUEUE),
    data: { formId, kind, busy: 0 },
    opts: markOptions(kind, tuning),
    children: passes.map((data) => ({
      name: 'sync',
      queueName: backend.queueName(passQueue(data.kind, data.target)),
      data,
      opts: { ...passOptions(data, tuning), ignoreDependencyOnFailure: true },
    })),
  });
}

/** Removes marks that wait for passes which don't exist. Returns how many there were. */
export async function removeOrphans(context: PlannerContext, ageMs: number): Promise<number> {
  const youngest = context.clock.now() - ageMs;
  const waiting = await context.queues.mark.getJobs(['waiting-children'], 0, 999, true);
  let removed = 0;
  for (const mark of waiting) {
    if (mark.timestamp > youngest || (await hasChild(context, mark))) continue;
    // It may have been released since: then it is no orphan.
    if ((await mark.getState()) !== 'waiting-children') continue;
    await mark.remove();
    removed++;
  }
  return removed;
}

async function hasChild(context: PlannerContext, mark: Job): Promise<boolean> {
  const data = markData.safeParse(mark.data);
  if (!data.success) return false;
  for (const target of context.queues.targets) {
    const queue = context.queues.passes(data.data.kind, target);
    const child = await queue?.getJob(slotId(data.data.formId));
    if (child?.parent?.id === mark.id) return true;
  }
  return false;
}
