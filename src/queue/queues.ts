import { FlowProducer, type IQueueBackend, Queue } from 'bullmq';
import type { PassKind } from '../mirror/types.ts';
import type { QueueBackend } from './backends/backend.ts';
import type { ErrorListener } from './error-log.ts';
import { MARK_QUEUE, PLAN_QUEUE, isLong, passQueue } from './jobs.ts';
import { telemetryOption } from './telemetry.ts';

/** A queue on whichever backend. */
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

/** The kinds of pass that have a queue for each target; comparisons are in that of full passes. */
export const QUEUE_KINDS: readonly PassKind[] = ['incremental', 'full'];

/** Every queue of this mirror, for adding and inspecting jobs. */
export interface Queues {
  readonly plan: AnyQueue;
  readonly mark: AnyQueue;
  readonly flows: FlowProducer<IQueueBackend, object>;
  /** The targets that have queues. */
  readonly targets: readonly string[];
  /** A target's passes of one kind; undefined for a target that is not configured. */
  passes(kind: PassKind, target: string): AnyQueue | undefined;
  /** All of them. */
  readonly all: readonly AnyQueue[];
  close(): Promise<void>;
}

/** Nothing of ours reads BullMQ's event streams; a few are kept for dashboards. */
const STREAMS = { events: { maxLen: 200 } } as const;

/** Opens the queues of `targets`. */
export function openQueues(
  backend: QueueBackend,
  targets: readonly string[],
  onError: ErrorListener,
): Queues {
  const open = (name: string): AnyQueue => openQueue(backend, name, onError);
  const plan = open(PLAN_QUEUE);
  const mark = open(MARK_QUEUE);
  const passes = {
    incremental: new Map(targets.map((target) => [target, open(passQueue('incremental', target))])),
    full: new Map(targets.map((target) => [target, open(passQueue('full', target))])),
  };
  const flows = new FlowProducer<IQueueBackend, object>(
    { connection: {}, ...telemetryOption() },
    backend.factory,
  );
  flows.on('error', onError);
  const ofTargets = [passes.incremental, passes.full];
  const all = [plan, mark, ...ofTargets.flatMap((each) => each.values().toArray())];
  return {
    plan,
    mark,
    flows,
    targets,
    all,
    passes: (kind, target) => passes[isLong(kind) ? 'full' : 'incremental'].get(target),
    close: async () => {
      await Promise.allSettled([...all, flows].map((one) => one.close()));
    },
  };
}

function openQueue(backend: QueueBackend, name: string, onError: ErrorListener): AnyQueue {
  const queue: AnyQueue = new Queue(
    backend.queueName(name),
    { connection: {}, streams: STREAMS, ...telemetryOption() },
    backend.factory,
  );
  queue.on('error', onError);
  return queue;
}

/** Removes the queues of a target that is no longer configured, with their jobs; marks that waited for these go on. */
export async function removeTargetQueues(
  backend: QueueBackend,
  target: string,
  onError: ErrorListener,
): Promise<void> {
  const passes = QUEUE_KINDS.map((kind) => passQueue(kind, target));
  for (const name of passes) {
    const queue: AnyQueue = new Queue(
      backend.queueName(name),
      // The constructor would write the queue's settings again while we remove them.
      { connection: {}, streams: STREAMS, skipMetasUpdate: true },
      backend.factory,
    );
    queue.on('error', onError);
    try {
      // One by one: only that notifies a waiting parent. An active job cannot be removed; obliterating takes it along.
      const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized']);
      for (const job of jobs) await job.remove().catch(onError);
      await queue.obliterate({ force: true });
    } finally {
      await queue.close();
    }
  }
}
