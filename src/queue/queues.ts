import { Queue } from 'bullmq';
import { withinTime } from '../base/clock.ts';
import type { QueueBackend } from './backends.ts';
import type { ErrorListener } from './error-log.ts';
import type { SyncOrder } from './jobs.ts';
import { kindOf, jobIdOf, jobOptions, type QueueKind, queueName, type Timings } from './jobs.ts';
import type { QueueOptions } from './runtime.ts';

/** A queue on any store. */
export type AnyQueue = ReturnType<typeof openQueue>;

/** One of the queues, and its purpose. */
export interface OneQueue {
  readonly kind: QueueKind;
  /** Null for polls and write-backs. */
  readonly target: string | null;
  readonly queue: AnyQueue;
}

/** What the parts of a running queue share. */
export interface QueueContext extends QueueOptions {
  readonly backend: QueueBackend;
  readonly queues: readonly OneQueue[];
  readonly timings: Timings;
  readonly onError: ErrorListener;
  /** Aborts when the process must stop. */
  readonly stopping: AbortSignal;
  /** Since when the store has not answered; null: it did when last asked. Changed by `readStatus`. */
  awaySinceMs: number | null;
  /** Since when the store has refused polls; null: it takes them, or another process adds them. Changed by `keepSchedule`. */
  refusedSinceMs: number | null;
  /** When the next poll is due; null if another process keeps the schedule. Changed by `keepSchedule`. */
  nextPollMs: number | null;
}

/** Opens the queues of `targets`: two, and two for each target. */
export function openQueues(
  backend: QueueBackend,
  targets: readonly string[],
  onError: ErrorListener,
): OneQueue[] {
  const open = (kind: QueueKind, target: string | null): OneQueue => {
    return { kind, target, queue: openQueue(backend, queueName(kind, target), onError) };
  };
  return [
    open('poll', null),
    open('write-back', null),
    ...targets.flatMap((target) => [open('sync', target), open('comparison', target)]),
  ];
}

/** The queue of all polls, or of all write-backs. */
export const queueFor = ({ queues }: QueueContext, kind: 'poll' | 'write-back'): AnyQueue =>
  (queues.find((one) => one.kind === kind) as OneQueue).queue;

/** The queue for a request; undefined for a target that is not configured. */
const queueOf = ({ queues }: QueueContext, order: SyncOrder): AnyQueue | undefined =>
  queues.find(({ kind, target }) => target === order.target && kind === kindOf(order))?.queue;

/** We do not read BullMQ's event streams; a few events are kept for dashboards. */
const STREAMS = { events: { maxLen: 200 } } as const;

function openQueue(backend: QueueBackend, name: string, onError: ErrorListener) {
  const queue = new Queue(name, { connection: {}, streams: STREAMS }, backend.factory);
  queue.on('error', onError);
  return queue;
}

/** Adds runs of forms, each in its queue, unless the form already has a job there. */
export async function addSyncs(context: QueueContext, orders: readonly SyncOrder[]): Promise<void> {
  for (const [queue, some] of Map.groupBy(orders, (order) => queueOf(context, order))) {
    const jobs = some.map((order) => {
      const opts = { ...jobOptions(context.timings), jobId: jobIdOf(order.formId) };
      return { name: 'sync', data: order, opts };
    });
    await queue?.addBulk(jobs);
  }
}

/** Adds write-backs of forms that have none yet. */
export async function addWriteBacks(
  context: QueueContext,
  formIds: readonly string[],
): Promise<void> {
  const jobs = formIds.map((formId) => {
    const opts = { ...jobOptions(context.timings), jobId: jobIdOf(formId) };
    return { name: 'write-back', data: { formId }, opts };
  });
  await queueFor(context, 'write-back').addBulk(jobs);
}

/** Whether a run of a form is running, waiting, or waiting for a retry. Also true if the store does not say so soon. */
export async function hasRun(context: QueueContext, formId: string): Promise<boolean> {
  const { queues, timings, clock } = context;
  const ofRuns = queues.filter(({ kind }) => kind === 'sync' || kind === 'comparison');
  const jobs = Promise.all(ofRuns.map(({ queue }) => queue.getJob(jobIdOf(formId))));
  const found = await withinTime(jobs, timings.answerMs, clock).catch(() => undefined);
  return found?.some((job) => job !== undefined) ?? true;
}

/**
 * Adds runs that a person asks for; each replaces one that waits (perhaps for a retry). A running one stays. Returns the requests
 * that were added.
 */
export async function runNow(
  context: QueueContext,
  orders: readonly SyncOrder[],
): Promise<readonly SyncOrder[]> {
  const begun: SyncOrder[] = [];
  for (const order of orders) {
    const [queue, id] = [queueOf(context, order), jobIdOf(order.formId)];
    if (queue === undefined) continue;
    if ((await queue.getJob(id)) === undefined || (await queue.remove(id)) === 1) begun.push(order);
  }
  await addSyncs(context, begun);
  return begun;
}
