import { hostname } from 'node:os';
import { type IQueueBackend, type Job, UnrecoverableError, Worker } from 'bullmq';
import type { z } from 'zod';
import { safeText } from '../base/errors.ts';
import { retryDelayMs } from '../base/retry.ts';
import { unreachable } from './backends.ts';
import { type HeldJob, runJob } from './job-outcome.ts';
import { kindOf, type QueueKind, queueName, retryPolicy, syncData, writeBackData } from './jobs.ts';
import { addSyncs, addWriteBacks, type OneQueue, type QueueContext } from './queues.ts';
import { untilPoll } from './scheduler.ts';

/** A worker on any store. */
export type AnyWorker = Worker<
  unknown,
  string,
  string,
  IQueueBackend,
  string | boolean | number | object,
  object
>;

/**
 * Jobs of a queue that a process works on at one time. Of two runs one waits for the source while the other writes. A
 * comparison takes the requests and the memory of a process for long: one at a time.
 */
const AT_ONCE = { poll: 1, sync: 2, comparison: 1, 'write-back': 2 };

/** The name of this process among the workers. */
export const WORKER = `${hostname()}-${process.pid}`;

/** A stall costs no attempt and means that a process died; after 100 of them the job is left to the next poll. */
const MAX_STALLS = 100;

/** One worker for each queue: a slow or failing target delays only itself, and a long comparison delays no newcomer. */
export function startWorkers(context: QueueContext): AnyWorker[] {
  return context.queues.map((queue) => startWorker(context, queue));
}

function startWorker(context: QueueContext, { kind, target }: OneQueue): AnyWorker {
  const { timings, logger } = context;
  const name = queueName(kind, target);
  const worker: AnyWorker = new Worker(
    name,
    // BullMQ gives a signal only to a function that declares all three. It aborts when the job's lock is lost.
    (job: Job, _token?: string, signal?: AbortSignal) => {
      const held = { job, signal };
      if (kind === 'poll') return poll(context, held);
      return target === null ? writeBack(context, held) : sync(context, held, kind, target);
    },
    {
      connection: {},
      name: WORKER,
      concurrency: AT_ONCE[kind],
      lockDuration: timings.lockDurationMs,
      stalledInterval: timings.stalledIntervalMs,
      runRetryDelay: timings.refusedMs,
      maxStalledCount: MAX_STALLS,
      settings: {
        backoffStrategy: (attemptsMade) =>
          untilPoll(
            retryDelayMs(retryPolicy(kind, timings), attemptsMade, Math.random),
            context.schedule,
          ),
      },
    },
    context.backend.factory,
  );
  worker.on('error', context.onError);
  worker.on('stalled', (jobId) => {
    logger.warn({ queue: name, jobId }, 'A worker died while it ran a job; the job is run again.');
    context.events.emit('job.recovered', { queue: name });
  });
  // BullMQ only reports it, and lets the job run on beside the worker that took it over.
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, 'The lock of this job is lost.');
  });
  return worker;
}

/** Asks for due jobs and adds them. */
async function poll(context: QueueContext, held: HeldJob): Promise<string> {
  const subject = { step: 'poll', formId: null, target: null } as const;
  return runJob(context, held, subject, async (stop) => {
    const { syncs, writeBacks } = await context.handlers.poll(stop);
    await ofQueue(addSyncs(context, syncs));
    if (context.writesBack) await ofQueue(addWriteBacks(context, writeBacks));
    return 'done';
  });
}

/** One run over one form, into the target that the queue is for. */
async function sync(
  context: QueueContext,
  held: HeldJob,
  kind: QueueKind,
  target: string,
): Promise<string> {
  const { job } = held;
  const isHere = (order: z.infer<typeof syncData>): boolean =>
    order.target === target && kindOf(order) === kind;
  const order = ownPayload(context, job, syncData.refine(isHere));
  const { formId } = order;
  const subject = { step: 'sync', formId, target } as const;
  return runJob(context, held, subject, async (stop) => {
    const outcome = await context.handlers.sync(order, stop, progressWriter(context, job));
    if (context.writesBack && (outcome === 'ok' || outcome === 'held')) {
      // If it cannot be added, the next poll adds it.
      await addWriteBacks(context, [formId]).catch(context.onError);
    }
    return outcome;
  });
}

/** Writes back one form. */
async function writeBack(context: QueueContext, held: HeldJob): Promise<string> {
  const { formId } = ownPayload(context, held.job, writeBackData);
  const subject = { step: 'write-back', formId, target: null } as const;
  return runJob(context, held, subject, async (stop) => {
    await context.handlers.writeBack(formId, stop);
    return 'done';
  });
}

/** What the queue's own connection meets while a job runs. */
const ofQueue = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw unreachable('The queue', error);
  });

/**
 * Stores how far a run has come, numbers only, after a rest before each write: none for a short run, where a write costs
 * as much as its own work. A failed write is left out: the next one follows.
 */
function progressWriter({ clock, timings }: QueueContext, job: Job) {
  let writtenAtMs = clock.now();
  return (seen: number, total: number): void => {
    if (clock.now() - writtenAtMs < timings.progressMs) return;
    writtenAtMs = clock.now();
    job.updateProgress({ seen, total }).catch(() => undefined);
  };
}

/**
 * The payload of a job. Anyone with access to the store can write any job: for a foreign one nothing is read or written, and it throws
 * UnrecoverableError. A run or a write-back does only what the settings of its process say.
 */
function ownPayload<Schema extends z.ZodType>(
  { logger }: QueueContext,
  job: Job,
  schema: Schema,
): z.infer<Schema> {
  const parsed = schema.safeParse(job.data);
  if (parsed.success) return parsed.data;
  const refusal = 'A job is refused: it was written by another program or version.';
  logger.warn({ queue: job.queueName, job: safeText(job.id ?? '', 100) }, refusal);
  throw new UnrecoverableError(refusal);
}
