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
import type { Queues } from './queues.ts';
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
  let added = 0;
  for (const form of forms) {
    if (!isStorable(form.formId)) {
      context.logger.warn('A form is left out: its ID holds characters that no queue can store.');
      continue;
    }
    const free = await freeSlots(context, form, kind);
    if (free.length === 0) continue;
    if (context.marking) await addFlow(context, free, form.formId, kind);
    else await addPlain(context, free);
    added += free.length;
  }
  if (context.marking) await removeOrphans(context, ORPHAN_AGE_MS);
  return added;
}

async function freeSlots(
  context: PlannerContext,
  form: PlannedForm,
  kind: PassKind,
): Promise<PassData[]> {
  const free: PassData[] = [];
  for (const target of form.targets) {
    const queue = context.queues.passes(kind, target);
    if (queue === undefined) continue;
    const state = await queue.getJobState(slotId(form.formId));
    if (state === 'unknown') free.push({ formId: form.formId, target, kind, busy: 0 });
  }
  return free;
}

async function addPlain(context: PlannerContext, passes: readonly PassData[]): Promise<void> {
  for (const data of passes) {
    const queue = context.queues.passes(data.kind, data.target);
    await queue?.add('sync', data, passOptions(data, context.tuning));
  }
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
