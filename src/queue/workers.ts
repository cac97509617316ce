import { hostname } from 'node:os';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { z } from 'zod';
import type { ProblemCode } from '../base/catalogue.ts';
import { MirrorError, safeText, toMirrorError } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import type { JobSubject } from '../sync/events.ts';
import { RUNS_AT_ONCE } from '../sync/target.ts';
import { unreachable } from './backends.ts';
import { kindOf, queueName, syncData, type SyncOrder, writeBackData } from './jobs.ts';
import { addSyncs, addWriteBacks, hasRun, type OneQueue, type QueueContext } from './queues.ts';

/**
 * How many jobs of a queue a process works on at the same time. A comparison uses its requests and its memory for long, so there is
 * one.
 */
const AT_ONCE = { poll: 1, sync: RUNS_AT_ONCE, comparison: 1, 'write-back': 2 };

/** The name of this process among the workers. */
const WORKER = `${hostname()}-${process.pid}`;

/** A stall costs no attempt and means that a process died. After 100 of them, the job is left to the next poll. */
const MAX_STALLS = 100;

/** One worker per queue: a slow or failing target delays only itself, and a long comparison delays no newcomer. */
export const startWorkers = (context: QueueContext) =>
  context.queues.map((queue) => startWorker(context, queue));

function startWorker(context: QueueContext, queue: OneQueue) {
  const { kind, target } = queue;
  const { timings, logger } = context;
  const name = queueName(kind, target);
  const worker = new Worker(
    name,
    // BullMQ passes a signal only to a function that declares all three parameters. It aborts when the job's lock is lost.
    async (job: Job, _token?: string, signal?: AbortSignal) =>
      runJob(context, job, taskOf(context, queue, job), signal),
    {
      connection: {},
      name: WORKER,
      concurrency: AT_ONCE[kind],
      lockDuration: timings.lockDurationMs,
      stalledInterval: timings.stalledIntervalMs,
      runRetryDelay: timings.refusedMs,
      maxStalledCount: MAX_STALLS,
    },
    context.backend.factory,
  );
  worker.on('error', context.onError);
  worker.on('stalled', (jobId) => {
    logger.warn({ queue: name, jobId }, 'A worker died while it ran a job; the job is run again.');
    context.events.emit('job.recovered', { queue: name });
  });
  // BullMQ only reports it, and lets the job continue beside the worker that took it over.
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const jobId of jobIds) worker.cancelJob(jobId, 'The lock of this job is lost.');
  });
  return worker;
}

/** The subject of a job, and its work. */
interface Task {
  readonly subject: JobSubject;
  readonly work: (stop: AbortSignal) => Promise<void>;
}

/** The task of a job. Throws UnrecoverableError for a foreign job. */
function taskOf(context: QueueContext, { kind, target }: OneQueue, job: Job): Task {
  const { handlers, writesBack } = context;
  if (kind === 'poll')
    return {
      subject: { step: 'poll', formId: null, target },
      async work(stop) {
        const { syncs, writeBacks } = await handlers.poll(stop);
        await ofQueue(addSyncs(context, syncs));
        if (writesBack) await ofQueue(addWriteBacks(context, writeBacks));
      },
    };
  if (kind === 'write-back') {
    const { formId } = ownPayload(context, job, writeBackData);
    return {
      subject: { step: 'write-back', formId, target },
      work: (stop) => handlers.writeBack(formId, stop, () => hasRun(context, formId)),
    };
  }
  const isHere = (one: SyncOrder): boolean => one.target === target && kindOf(one) === kind;
  const order = ownPayload(context, job, syncData, isHere);
  return {
    subject: { step: 'sync', formId: order.formId, target },
    async work(stop) {
      const outcome = await handlers.sync(order, stop, progressWriter(context, job));
      if (writesBack && (outcome === 'ok' || outcome === 'held')) {
        // If it cannot be added, the next poll adds it.
        await addWriteBacks(context, [order.formId]).catch(context.onError);
      }
    },
  };
}

/** The store's texts that a job no longer belongs to this worker, or is unknown. */
const LOST_JOB =
  'Stopped, as the queue has given this job to another worker or no longer knows it; the rows written so far stay, and the next run continues.';

/** These codes say nothing about the form or the target. */
const NO_FAILURES: ReadonlySet<ProblemCode> = new Set(['CANCELLED', 'TARGET_BUSY']);

/**
 * Runs a task and reports how it ended. BullMQ takes a result, an error (which it retries while attempts are left), or an
 * UnrecoverableError. `signal`: BullMQ's, which aborts when the job no longer belongs to this worker.
 */
function runJob(
  context: QueueContext,
  job: Job,
  { subject, work }: Task,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { logger, stopping, events } = context;
  return withLogFields({ jobId: job.id ?? '' }, async () => {
    const lost = new AbortController();
    const lose = (): void => lost.abort(new MirrorError('CANCELLED', LOST_JOB));
    if (signal?.aborted === true) lose();
    else signal?.addEventListener('abort', lose, { once: true });
    try {
      await work(AbortSignal.any([stopping, lost.signal]));
      events.emit('job.ended', { ...subject, code: null, willRetry: false });
    } catch (error) {
      const failure: MirrorError = toMirrorError(error);
      const { code, message, retryable } = failure;
      const attempt = job.attemptsMade + 1;
      const willRetry = retryable && attempt < (job.opts.attempts ?? 1);
      const shown = NO_FAILURES.has(code) ? null : code;
      events.emit('job.ended', { ...subject, code: shown, willRetry });
      const level =
        subject.step !== 'poll' || stopping.aborted ? 'debug' : willRetry ? 'warn' : 'error';
      logger[level](
        { ...subject, err: failure, attempt },
        willRetry
          ? 'A job failed; it will be tried again.'
          : 'A job failed; the next poll finds the remaining work.',
      );
      const text = `${code}: ${message}`;
      throw willRetry ? new Error(text) : new UnrecoverableError(text);
    }
  });
}

/** Errors of the queue's own connection while a job runs. */
const ofQueue = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw unreachable('The queue', error);
  });

/**
 * Stores the progress of a run, numbers only, with a pause before each write. A short run stores none, because a write would cost
 * as much as its own work. A failed write is skipped, because another one follows.
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
 * The payload of a job. Anyone with access to the store can write any job. For a foreign one, nothing is read or written, and it
 * throws UnrecoverableError. A run or a write-back does only what the settings of its process allow.
 */
function ownPayload<Schema extends z.ZodType>(
  { logger }: QueueContext,
  job: Job,
  schema: Schema,
  isHere: (payload: z.infer<Schema>) => boolean = () => true,
): z.infer<Schema> {
  const parsed = schema.safeParse(job.data);
  if (parsed.success && isHere(parsed.data)) return parsed.data;
  const refusal = 'A job is refused: it was written by another program or version.';
  logger.warn({ queue: job.queueName, job: safeText(job.id ?? '', 100) }, refusal);
  throw new UnrecoverableError(refusal);
}
