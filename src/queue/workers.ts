import { hostname } from 'node:os';
import { type IQueueBackend, Worker } from 'bullmq';
import { retryDelayMs } from '../base/retry-delay.ts';
import { MARK_QUEUE, PLAN_QUEUE, markData, passQueue, planData } from './jobs.ts';
import {
  type Processor,
  type ProcessorContext,
  markProcessor,
  passProcessor,
  planProcessor,
} from './processors.ts';
import type { FaultLog } from './fault-log.ts';

/** A worker on whichever backend. */
export type AnyWorker = Worker<
  unknown,
  string,
  string,
  IQueueBackend,
  string | boolean | number | object,
  object
>;

/** What starting the workers needs. */
export interface WorkerContext extends ProcessorContext {
  readonly faults: FaultLog;
  /** Passes at work at one time, for each target. */
  readonly concurrency: number;
}

/** How many workers {@link startWorkers} starts: each holds a connection. */
export const workerCount = (targets: readonly string[]): number => 2 + 2 * targets.length;

/**
 * One worker for planning, one for marking, two for each target: a slow or failing target delays only itself, and a
 * long full pass delays no incremental one.
 */
export function startWorkers(context: WorkerContext): AnyWorker[] {
  const pass = passProcessor(context);
  const { concurrency } = context;
  return [
    startWorker(context, PLAN_QUEUE, planProcessor(context), 1),
    startWorker(context, MARK_QUEUE, markProcessor(context), concurrency),
    ...context.queues.targets.flatMap((target) => [
      startWorker(context, passQueue('incremental', target), pass, concurrency),
      startWorker(context, passQueue('full', target), pass, Math.ceil(concurrency / 2)),
    ]),
  ];
}

/** Stalls cost no attempt and mean that a process died; a form whose passes kill their process 100 times is given up until the next tick. */
const MAX_STALLS = 100;

function startWorker(
  context: WorkerContext,
  name: string,
  processor: Processor,
  concurrency: number,
): AnyWorker {
  const { tuning, random } = context;
  const worker: AnyWorker = new Worker(
    context.backend.queueName(name),
    processor,
    {
      connection: {},
      name: `${hostname()}-${process.pid}`,
      concurrency,
      lockDuration: tuning.lockDurationMs,
      stalledInterval: tuning.stalledIntervalMs,
      maxStalledCount: MAX_STALLS,
      settings: {
        backoffStrategy: (attemptsMade, _type, _error, job) =>
          retryDelayMs(tuning.retry[kindOf(job?.data)], attemptsMade, random),
      },
    },
    context.backend.factory,
  );
  worker.on('error', context.faults);
  worker.on('stalled', (jobId) => {
    context.logger.warn(
      { queue: name, jobId },
      'A worker died with a job in hand; it is run again.',
    );
    context.events.emit('job.recovered', { queue: name });
  });
  // BullMQ tells, but lets the job run on beside the one that took it over.
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, 'The lock of this job is lost.');
  });
  return worker;
}

/** Every payload names a kind of pass. */
function kindOf(data: unknown): 'incremental' | 'full' {
  const parsed = planData
    .pick({ kind: true })
    .or(markData.pick({ kind: true }))
    .safeParse(data);
  return parsed.success ? parsed.data.kind : 'incremental';
}
