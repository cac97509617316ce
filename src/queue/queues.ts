import { type IQueueBackend, Queue } from 'bullmq';
import type { QueueBackend } from './backends.ts';
import type { ErrorListener } from './events.ts';
import type { SyncOrder } from './handlers.ts';
import {
  isLong,
  isStorable,
  jobIdOf,
  jobOptions,
  type QueueKind,
  queueName,
  type Timings,
} from './jobs.ts';
import type { QueueOptions } from './runtime.ts';

/** A queue on any store. */
export type AnyQueue = Queue<
  unknown,
  unknown,
  string,
  unknown,
  unknown,
  string,
  IQueueBackend,
  object
>;

/** One of the queues, and its purpose. */
export interface OneQueue {
  readonly kind: QueueKind;
  /** Null for polls and write-backs. */
  readonly target: string | null;
  readonly queue: AnyQueue;
}

/** Every queue of this mirror. */
export interface Queues {
  readonly poll: AnyQueue;
  readonly writeBack: AnyQueue;
  readonly all: readonly OneQueue[];
  /** The queue that an order belongs in; undefined for a target that is not configured. */
  of(order: SyncOrder): AnyQueue | undefined;
  close(): Promise<void>;
}

/** What the parts of a running queue share. */
export interface QueueContext extends QueueOptions {
  readonly backend: QueueBackend;
  readonly queues: Queues;
  readonly timings: Timings;
  readonly random: () => number;
  readonly onError: ErrorListener;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Since when the store has not answered; null: it did when it was last asked. Changed by `readStatus`. */
  awaySinceMs: number | null;
}

const OF_TARGET: readonly QueueKind[] = ['sync', 'comparison'];

/** Opens the queues of `targets`: two, and two for each target. */
export function openQueues(
  backend: QueueBackend,
  targets: readonly string[],
  onError: ErrorListener,
): Queues {
  const open = (kind: QueueKind, target: string | null): OneQueue => {
    return { kind, target, queue: openQueue(backend, queueName(kind, target), onError) };
  };
  const [poll, writeBack] = [open('poll', null), open('write-back', null)];
  const ofTargets = targets.flatMap((target) => OF_TARGET.map((kind) => open(kind, target)));
  const all = [poll, writeBack, ...ofTargets];
  return {
    poll: poll.queue,
    writeBack: writeBack.queue,
    all,
    of: (order) => {
      const kind = isLong(order) ? 'comparison' : 'sync';
      return ofTargets.find((one) => one.kind === kind && one.target === order.target)?.queue;
    },
    close: async () => {
      await Promise.allSettled(all.map(({ queue }) => queue.close()));
    },
  };
}

/** We do not read BullMQ's event streams; a few events are kept for dashboards. */
const STREAMS = { events: { maxLen: 200 } } as const;

function openQueue(backend: QueueBackend, name: string, onError: ErrorListener): AnyQueue {
  const queue: AnyQueue = new Queue(
    backend.queueName(name),
    { connection: {}, streams: STREAMS },
    backend.factory,
  );
  queue.on('error', onError);
  return queue;
}

/** Adds runs of forms, each in its queue, except where the form's job is there already. */
export async function addSyncs(
  { queues, timings, logger }: QueueContext,
  orders: readonly SyncOrder[],
): Promise<void> {
  const storable = orders.filter(({ formId }) => isStorable(formId));
  if (storable.length < orders.length) {
    const skipped = orders.length - storable.length;
    logger.warn({ skipped }, 'Forms are skipped: no queue can store their IDs.');
  }
  for (const [queue, some] of Map.groupBy(storable, (order) => queues.of(order))) {
    const jobs = some.map((order) => {
      const options = jobOptions(isLong(order) ? 'comparison' : 'sync', timings);
      return { name: 'sync', data: order, opts: { ...options, jobId: jobIdOf(order.formId) } };
    });
    await queue?.addBulk(jobs);
  }
}

/** Adds write-backs of forms that have none yet. */
export async function addWriteBacks(
  { queues, timings }: QueueContext,
  formIds: readonly string[],
): Promise<void> {
  const options = jobOptions('write-back', timings);
  const jobs = formIds.filter(isStorable).map((formId) => {
    return { name: 'write-back', data: { formId }, opts: { ...options, jobId: jobIdOf(formId) } };
  });
  await queues.writeBack.addBulk(jobs);
}

/** The outcome of orders. */
export interface RunStarted {
  /** A worker takes them as soon as one is free. */
  readonly begun: readonly SyncOrder[];
  /** Such a run is running already, or about to. */
  readonly underWay: readonly SyncOrder[];
}

/**
 * Adds runs that a person asks for. A job that waits to be tried again, perhaps for minutes, is replaced by one that begins at
 * once; so is one that waits for a worker, if it would not do what the order asks. A running one stays. A form that
 * the settings do not mirror is refused by the job itself.
 */
export async function runNow(
  context: QueueContext,
  orders: readonly SyncOrder[],
): Promise<RunStarted> {
  const begun: SyncOrder[] = [];
  const underWay: SyncOrder[] = [];
  for (const [queue, some] of Map.groupBy(orders, (order) => context.queues.of(order))) {
    if (queue === undefined) continue;
    // Asked once for all: of hundreds of forms most have no job. In this order: a job may move on in between.
    const idsIn = async (state: 'delayed' | 'waiting' | 'active'): Promise<Set<string>> =>
      new Set((await queue.getBackend().getRanges([state], 0, -1)).flat());
    const delayed = await idsIn('delayed');
    const waiting = await idsIn('waiting');
    const running = await idsIn('active');
    for (const order of some) {
      const id = jobIdOf(order.formId);
      const asksMore = order.isFull === true || order.acceptDeletes !== undefined;
      const isReplaced = delayed.has(id) || (asksMore && waiting.has(id));
      // A worker may have just taken it: then it stays.
      const isFree = isReplaced
        ? (await queue.remove(id)) === 1
        : !waiting.has(id) && !running.has(id);
      (isFree ? begun : underWay).push(order);
    }
  }
  await addSyncs(context, begun);
  return { begun, underWay };
}
