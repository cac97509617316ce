import { hostname } from 'node:os';
import { type IQueueBackend, Worker } from 'bullmq';
import { retryDelayMs } from '../base/retry.ts';
import type { PassKind } from '../mirror/types.ts';
import { MARK_QUEUE, PLAN_QUEUE, markData, passQueue, planData } from './jobs.ts';
import {
  type Processor,
  type ProcessorContext,
  markProcessor,
  passProcessor,
  planProcessor,
} from './processors.ts';
import type { ErrorListener } from './error-log.ts';
import { intervalOf } from './scheduler.ts';
import { telemetryOption } from './telemetry.ts';

/** A worker on whichever backend. */
export type AnyWorker = Worker<
  unknown,
  string,
  string,
  IQueueBackend,
  string | boolean | number | object,
  object
>;

/** What the workers share. */
export interface WorkerContext extends ProcessorContext {
  readonly onError: ErrorListener;
}

/**
 * Passes of a target, and forms that are marked, that a process works on at one time: one waits for the source while the other
 * writes. Those that read a form whole are one at a time: they take the requests and the memory of a process for hours.
 */
const PASSES_AT_ONCE = 2;
const FULL_PASSES_AT_ONCE = 1;

/** How many workers {@link startWorkers} starts: each holds a connection. */
export const workerCount = (targets: readonly string[]): number => 2 + 2 * targets.length;

/**
 * One worker for planning, one for marking, two for each target: a slow or failing target delays only itself, and a
 * long full pass delays no incremental one.
 */
export function startWorkers(context: WorkerContext): AnyWorker[] {
  const { targets } = context.queues;
  return [
    startWorker(context, PLAN_QUEUE, planProcessor(context), 1),
    startWorker(context, MARK_QUEUE, markProcessor(context), PASSES_AT_ONCE),
    ...targets.flatMap((target) => {
      const start = (kind: PassKind, count: number): AnyWorker =>
        startWorker(
          context,
          passQueue(kind, target),
          passProcessor(context, { kind, target }),
          count,
        );
      return [start('incremental', PASSES_AT_ONCE), start('full', FULL_PASSES_AT_ONCE)];
    }),
  ];
}

/** A stall costs no attempt and means that a process died; after 100 of them the job is left to the next scheduled run. */
const MAX_STALLS = 100;

function startWorker(
  context: WorkerContext,
  name: string,
  processor: Processor,
  concurrency: number,
): AnyWorker {
  const { timings, random } = context;
  const worker: AnyWorker = new Worker(
    context.backend.queueName(name),
    processor,
    {
      connection: {},
      ...telemetryOption(),
      name: `${hostname()}-${process.pid}`,
      concurrency,
      lockDuration: timings.lockDurationMs,
      stalledInterval: timings.stalledIntervalMs,
      runRetryDelay: timings.refusedMs,
      maxStalledCount: MAX_STALLS,
      settings: {
        backoffStrategy: (attemptsMade, _type, _error, job) => {
          const kind = kindOf(job?.data);
          const delayMs = retryDelayMs(timings.retry[kind], attemptsMade, random);
          return Math.min(delayMs, intervalOf(context.schedules, kind));
        },
      },
    },
    context.backend.factory,
  );
  worker.on('error', context.onError);
  worker.on('stalled', (jobId) => {
    context.logger.warn(
      { queue: name, jobId },
      'A worker died while it ran a job; the job is run again.',
    );
    context.events.emit('job.recovered', { queue: name });
  });
  // BullMQ only reports it, and lets the job run on beside the worker that took it over.
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, 'The lock of this job is lost.');
  });
  return worker;
}

/** Every payload names a kind of pass. */
function kindOf(data: unknown): PassKind {
  const parsed = planData
    .pick({ kind: true })
    .or(markData.pick({ kind: true }))
    .safeParse(data);
  return parsed.success ? parsed.data.kind : 'incremental';
}
