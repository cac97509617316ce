import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { MirrorError, safeText, toMirrorError } from '../base/errors.ts';
import { retryDelayMs } from '../base/retry-delay.ts';
import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import type { JobSubject, QueueEventMap } from './events.ts';
import type { Tuning } from './tuning.ts';

/*
 * How a job ends, told in BullMQ's terms. It knows four ends: a return value; an error, tried again while attempts are
 * left; UnrecoverableError, not tried again; and DelayedError or WaitingError, thrown after the job was put back, which
 * cost no attempt.
 */

/** What ending a job needs. */
export interface EndingContext {
  readonly tuning: Tuning;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
}

/** A job in a worker's hands. */
export interface RunningJob {
  readonly job: Job;
  /** BullMQ's proof that the job is ours. */
  readonly token: string;
  readonly subject: JobSubject;
  readonly kind: PassKind;
  /** How often it was put off already because another pass was at work. */
  readonly busy: number;
}

/**
 * Runs `work` and translates its end for BullMQ: resolves to the job's result, or rejects with one of its errors.
 * Resolving to `busy` or rejecting with TARGET_BUSY puts the job off; being stopped puts it back for another worker.
 */
export async function runToEnd(
  context: EndingContext,
  running: RunningJob,
  work: () => Promise<string>,
): Promise<string> {
  const { subject } = running;
  const began = context.clock.now();
  const elapsed = (): number => context.clock.now() - began;
  context.events.emit('job.started', subject);
  try {
    const outcome = await work();
    if (outcome === 'cancelled') throw new MirrorError('CANCELLED', 'Stopped on request.');
    if (outcome === 'busy') return await postpone(context, running);
    context.events.emit('job.completed', { ...subject, outcome, ms: elapsed() });
    return outcome;
  } catch (error) {
    if (error instanceof DelayedError || error instanceof UnrecoverableError) throw error;
    const known = toMirrorError(error);
    // Whatever it calls itself: a failure while stopping is most likely our own doing and must not cost a try.
    if (context.stopping.aborted && known.retryable) return putBack(context, running);
    if (known.code === 'TARGET_BUSY') return postpone(context, running);
    throw fail(context, running, known, elapsed());
  }
}

/** Back to the head of the queue, where the next worker finds it. */
async function putBack(
  context: EndingContext,
  { job, token, subject }: RunningJob,
): Promise<never> {
  await job.moveToWait(token);
  context.logger.info({ ...subject }, 'Stopped on request; the job waits for the next worker.');
  throw new WaitingError();
}

/** Puts a job off while another pass is at work on its form, without using up its tries, but not for ever. */
async function postpone(context: EndingContext, running: RunningJob): Promise<never> {
  const { job, token, subject, busy } = running;
  const policy = context.tuning.busy;
  if (busy + 1 >= policy.attempts) {
    const message =
      'Another pass has been at work on this form all the time; the next tick tries again.';
    throw fail(context, running, new MirrorError('TARGET_BUSY', message, { retryable: false }), 0);
  }
  // Half the wait is certain, so that a short job does not come back many times in a second.
  const ceiling = retryDelayMs(policy, busy + 1, () => 1);
  const delayMs = Math.round(ceiling / 2 + (context.random() * ceiling) / 2);
  await job.updateData({ ...(job.data as object), busy: busy + 1 });
  await job.moveToDelayed(context.clock.now() + delayMs, token);
  context.events.emit('job.postponed', { ...subject, delayMs });
  throw new DelayedError();
}

function fail(
  context: EndingContext,
  { job, subject, kind }: RunningJob,
  error: MirrorError,
  ms: number,
): Error {
  const attempt = job.attemptsMade + 1;
  const willRetry = error.retryable && attempt < context.tuning.retry[kind].attempts;
  const message = safeText(error.message);
  context.events.emit('job.failed', { ...subject, code: error.code, message, willRetry, ms });
  context.logger[willRetry ? 'warn' : 'error'](
    { ...subject, err: error, attempt },
    willRetry
      ? 'A job failed; it will be tried again.'
      : 'A job failed; the next tick tries again.',
  );
  const told = safeText(`${error.code}: ${error.message}`);
  return error.retryable ? new Error(told) : new UnrecoverableError(told);
}
