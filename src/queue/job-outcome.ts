import { type Job, UnrecoverableError } from 'bullmq';
import type { ProblemCode } from '../base/catalogue.ts';
import { LinkedSignal } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import type { JobSubject } from './events.ts';
import type { QueueContext } from './queues.ts';

/*
 * How a job ends: BullMQ takes a result, an error that it tries again while attempts are left, or an UnrecoverableError.
 */

/** What a job is about, and its work. */
export interface Task {
  readonly subject: JobSubject;
  readonly work: (stop: AbortSignal) => Promise<void>;
}

/** The store says that it is no longer this worker's job, or does not know it. */
const LOST_JOB =
  'Stopped, as the queue has given this job to another worker or no longer knows it; the rows written so far stay, and the next run continues.';

/** They say nothing of the form or the target. */
const NO_FAILURES: ReadonlySet<ProblemCode> = new Set(['CANCELLED', 'TARGET_BUSY']);

/**
 * Runs a task and reports how it ended; rejects with what BullMQ is to do. `signal`: BullMQ's, which
 * aborts when the job is no longer this worker's.
 */
export function runJob(
  context: QueueContext,
  job: Job,
  { subject, work }: Task,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { logger, stopping, events } = context;
  return withLogFields({ jobId: job.id ?? '' }, async () => {
    using stop = new LinkedSignal(stopping);
    const lose = (): void => stop.abort(new MirrorError('CANCELLED', LOST_JOB));
    if (signal?.aborted === true) lose();
    else signal?.addEventListener('abort', lose, { once: true });
    try {
      await work(stop.signal);
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
