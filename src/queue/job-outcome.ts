import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { LinkedSignal } from '../base/clock.ts';
import { MirrorError, toMirrorError } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import { retryDelayMs } from '../base/retry.ts';
import type { JobSubject } from './events.ts';
import type { QueueContext } from './queues.ts';
import { intervalOf } from './scheduler.ts';

/*
 * Translates how a job ended for BullMQ, which knows four outcomes: a return value; an error, tried again while attempts
 * are left; UnrecoverableError, not tried again; and DelayedError, thrown after the job was put off, which costs no attempt.
 */

/** A job as BullMQ gives it to a worker. */
export interface HeldJob {
  readonly job: Job;
  /** BullMQ's token of the job's lock. */
  readonly token: string;
  /** BullMQ's: aborts when the job is no longer this worker's. */
  readonly signal: AbortSignal | undefined;
}

/** The store says that it is no longer this worker's job, or does not know it. */
const LOST_JOB =
  'Stopped, as the queue has given this job to another worker or no longer knows it; the rows written so far stay, and the next run continues.';

/**
 * Runs `work` and reports its outcome to BullMQ: resolves to the job's result, or rejects with one of BullMQ's errors.
 * The outcome `busy`, or TARGET_BUSY, postpones the job; `stopped` puts it back for another worker.
 */
export function runJob(
  context: QueueContext,
  held: HeldJob,
  subject: JobSubject,
  work: (stop: AbortSignal) => Promise<string>,
): Promise<string> {
  return withLogFields({ jobId: held.job.id ?? '' }, () => run(context, held, subject, work));
}

async function run(
  context: QueueContext,
  { job, token, signal }: HeldJob,
  subject: JobSubject,
  work: (stop: AbortSignal) => Promise<string>,
): Promise<string> {
  const { clock, logger, stopping } = context;
  const putOff = async (delayMs: number): Promise<never> => {
    await job.moveToDelayed(clock.now() + delayMs, token);
    throw new DelayedError();
  };
  // A worker that closes may still take a job, the one that it has just put off, too.
  if (stopping.aborted) return putOff(0);
  using stop = new LinkedSignal(stopping);
  const lose = (): void => stop.abort(new MirrorError('CANCELLED', LOST_JOB));
  if (signal?.aborted === true) lose();
  else signal?.addEventListener('abort', lose, { once: true });

  const beganMs = clock.now();
  const end = await work(stop.signal).catch((error: unknown) => {
    // Refused, and written to the log.
    if (error instanceof UnrecoverableError) throw error;
    return toMirrorError(error);
  });
  const ms = clock.now() - beganMs;
  const outcome = typeof end === 'string' ? end : outcomeOf(end, stopping);
  const report = (willRetry: boolean, code: MirrorError['code'] | null = null): void =>
    context.events.emit('job.ended', { ...subject, outcome, code, ms, willRetry });

  if (outcome === 'stopped' || outcome === 'busy') {
    report(true);
    // It is no longer ours to put off.
    if (signal?.aborted === true) throw new Error(LOST_JOB);
    if (stopping.aborted) {
      logger.info({ ...subject }, 'Stopped on request; the job waits for the next worker.');
      return putOff(0);
    }
    const times = job.attemptsStarted - job.attemptsMade;
    const delayMs = retryDelayMs(context.timings.busy, times, context.random);
    return putOff(Math.min(delayMs, intervalOf(context.schedule)));
  }
  if (typeof end === 'string') {
    report(false);
    return outcome;
  }
  const attempt = job.attemptsMade + 1;
  const willRetry = end.retryable && attempt < (job.opts.attempts ?? 1);
  report(willRetry, end.code);
  logger[subject.step !== 'poll' ? 'debug' : willRetry ? 'warn' : 'error'](
    { ...subject, err: end, attempt },
    willRetry
      ? 'A job failed; it will be tried again.'
      : 'A job failed; the next poll finds the remaining work.',
  );
  const text = `${end.code}: ${end.message}`;
  throw willRetry ? new Error(text) : new UnrecoverableError(text);
}

/** The outcome that an error means. A failure during a stop most likely comes from the stop, so it costs no attempt. */
function outcomeOf({ code, retryable }: MirrorError, stopping: AbortSignal): string {
  if (code === 'CANCELLED' || (stopping.aborted && retryable)) return 'stopped';
  return code === 'TARGET_BUSY' ? 'busy' : 'failed';
}
