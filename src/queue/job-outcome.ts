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

/** What a job is about, and its work, which resolves to its outcome. */
export interface Task {
  readonly subject: JobSubject;
  readonly work: (stop: AbortSignal) => Promise<string>;
}

/** The store says that it is no longer this worker's job, or does not know it. */
const LOST_JOB =
  'Stopped, as the queue has given this job to another worker or no longer knows it; the rows written so far stay, and the next run continues.';

/** Failures that say nothing of the form or the target, by their outcome. */
const OUTCOMES: Partial<Record<ProblemCode, string>> = {
  CANCELLED: 'stopped',
  TARGET_BUSY: 'busy',
};

/**
 * Runs a task and reports its outcome: resolves to the job's result, or rejects with what BullMQ is to do. `signal`: BullMQ's, which
 * aborts when the job is no longer this worker's.
 */
export function runJob(
  context: QueueContext,
  job: Job,
  { subject, work }: Task,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { clock, logger, stopping, events } = context;
  return withLogFields({ jobId: job.id ?? '' }, async () => {
    using stop = new LinkedSignal(stopping);
    const lose = (): void => stop.abort(new MirrorError('CANCELLED', LOST_JOB));
    if (signal?.aborted === true) lose();
    else signal?.addEventListener('abort', lose, { once: true });
    const beganMs = clock.now();
    const ended = { ...subject, code: null, willRetry: false };
    try {
      const outcome = await work(stop.signal);
      events.emit('job.ended', { ...ended, outcome, ms: clock.now() - beganMs });
      return outcome;
    } catch (error) {
      const failure: MirrorError = toMirrorError(error);
      const { code, message, retryable } = failure;
      const outcome = OUTCOMES[code] ?? 'failed';
      const attempt = job.attemptsMade + 1;
      const willRetry = retryable && attempt < (job.opts.attempts ?? 1);
      events.emit('job.ended', {
        ...ended,
        outcome,
        code: outcome === 'failed' ? code : null,
        ms: clock.now() - beganMs,
        willRetry,
      });
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
