import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { errorCode } from '../base/error-code.ts';
import { isAbort, MirrorError, safeText, stopReason, toMirrorError } from '../base/errors.ts';
import { type Clock, LinkedSignal } from '../base/clock.ts';
import { retryDelayMs } from '../base/retry.ts';
import type { Events } from '../base/events.ts';
import { type Logger, withLogFields } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import { unreachable } from './backends/backend.ts';
import { wasLogged } from './handlers.ts';
import type { JobSubject, QueueEventMap } from './events.ts';
import { intervalOf, type Schedules } from './scheduler.ts';
import type { Timings } from './timings.ts';

/*
 * Translates how a job ended for BullMQ, which knows four outcomes: a return value; an error, tried again while attempts
 * are left; UnrecoverableError, not tried again; and DelayedError or WaitingError, thrown after the job was put back,
 * which cost no attempt.
 */

/** What a worker shares with its jobs. */
export interface JobContext {
  readonly timings: Timings;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
}

/** A job that a worker is running. */
export interface RunningJob {
  readonly job: Job;
  /** BullMQ's token of the job's lock. */
  readonly token: string;
  readonly subject: JobSubject;
  readonly kind: PassKind;
  /** BullMQ's: aborts when the job is no longer this worker's. */
  readonly signal: AbortSignal | undefined;
  /** How often it was postponed already because another pass was running. */
  readonly busy: number;
  /** How often it has failed already, where it is tried until it succeeds: a full pass. Undefined for any other job. */
  readonly failed?: number;
}

/** The store says that it is no longer this worker's job, or does not know it. */
const LOST_JOB =
  'Stopped, as the queue has given this job to another worker or no longer knows it; what was written stays, and the next run goes on.';

/**
 * Runs `work` and reports its outcome to BullMQ: resolves to the job's result, or rejects with one of BullMQ's errors.
 * Resolving to `busy` or rejecting with TARGET_BUSY postpones the job, and so does any failure of a full pass; being
 * stopped puts it back for another worker.
 */
export function runJob(
  context: JobContext,
  running: RunningJob,
  work: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  return withLogFields({ jobId: running.job.id ?? '' }, () => run(context, running, work));
}

async function run(
  context: JobContext,
  running: RunningJob,
  work: (signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const { subject } = running;
  const began = context.clock.now();
  const elapsed = (): number => context.clock.now() - began;
  context.events.emit('job.started', subject);
  using stop = stopOf(context, running);
  try {
    const outcome = await work(stop.signal);
    if (outcome === 'cancelled') throw stopReason(stop.signal);
    if (outcome === 'busy') return await postpone(context, running);
    context.events.emit('job.completed', { ...subject, outcome, ms: elapsed() });
    return outcome;
  } catch (error) {
    if (error instanceof DelayedError || error instanceof UnrecoverableError) throw error;
    const known = jobFailure(error);
    // Whatever its code: a failure while stopping is most likely caused by that and must not cost an attempt.
    if (context.stopping.aborted && known.retryable) return putBack(context, running);
    if (known.code === 'TARGET_BUSY') return postpone(context, running);
    if (running.failed !== undefined) return tryAgain(context, running, known, elapsed());
    throw fail(context, running, known, elapsed());
  }
}

/** Aborts when the process is to stop, and, with that reason, when the job is lost. */
function stopOf({ stopping }: JobContext, { signal }: RunningJob): LinkedSignal {
  const stop = new LinkedSignal(stopping);
  const lose = (): void => stop.abort(new MirrorError('CANCELLED', LOST_JOB));
  if (signal?.aborted === true) lose();
  else signal?.addEventListener('abort', lose, { once: true });
  return stop;
}

/** Returns the job to the head of the queue, for the next worker. */
async function putBack(context: JobContext, { job, token, subject }: RunningJob): Promise<never> {
  await job.moveToWait(token);
  context.logger.info({ ...subject }, 'Stopped on request; the job waits for the next worker.');
  throw new WaitingError();
}

/** Postpones a job while another pass over its form runs: without using up its attempts, but not for ever. */
async function postpone(context: JobContext, running: RunningJob): Promise<never> {
  const { job, token, subject, busy } = running;
  const policy = context.timings.busy;
  if (busy + 1 >= policy.attempts) {
    const message =
      'Another pass over this form has been running all the time; the next scheduled run tries again.';
    throw fail(context, running, new MirrorError('TARGET_BUSY', message, { retryable: false }), 0);
  }
  const delayMs = withinInterval(context, running, retryDelayMs(policy, busy + 1, context.random));
  await job.updateData({ ...(job.data as object), busy: busy + 1 });
  await job.moveToDelayed(context.clock.now() + delayMs, token);
  context.events.emit('job.postponed', { ...subject, delayMs });
  context.logger.debug({ ...subject, delayMs }, 'Another pass over the form is at work; it waits.');
  throw new DelayedError();
}

/**
 * Puts a failed full pass off. Its next scheduled run is hours away, and adds nothing while this job exists: so it is tried
 * until it succeeds, over restarts too. What no retry can mend (a refused key) a person may mend at any time.
 */
async function tryAgain(
  context: JobContext,
  running: RunningJob,
  error: MirrorError,
  ms: number,
): Promise<never> {
  const { job, token, subject, failed = 0 } = running;
  const policy = context.timings.retry.full;
  const delayMs = error.retryable
    ? retryDelayMs({ ...policy, jitter: 'equal' }, failed + 1, context.random)
    : policy.maxDelayMs;
  const againMs = context.clock.now() + withinInterval(context, running, delayMs);
  const againAt = new Date(againMs).toISOString();
  await job.updateData({ ...(job.data as object), failed: failed + 1, againAt });
  await job.moveToDelayed(againMs, token);
  const message = safeText(error.message);
  context.events.emit('job.failed', { ...subject, code: error.code, message, willRetry: true, ms });
  context.logger[wasLogged(error) ? 'debug' : 'warn'](
    { ...subject, err: error, attempt: failed + 1, againAt },
    'A full pass failed; it will be tried again.',
  );
  throw new DelayedError();
}

/** No wait outlasts the interval of its kind: the ticks add nothing while the job exists, and the cause may be long over. */
function withinInterval(context: JobContext, { kind }: RunningJob, delayMs: number): number {
  return Math.min(delayMs, intervalOf(context.schedules, kind));
}

function fail(
  context: JobContext,
  { job, subject, kind }: RunningJob,
  error: MirrorError,
  ms: number,
): Error {
  const attempt = job.attemptsMade + 1;
  const willRetry = error.retryable && attempt < context.timings.retry[kind].attempts;
  const message = safeText(error.message);
  context.events.emit('job.failed', { ...subject, code: error.code, message, willRetry, ms });
  const level = willRetry ? 'warn' : 'error';
  context.logger[wasLogged(error) ? 'debug' : level](
    { ...subject, err: error, attempt },
    willRetry
      ? 'A job failed; it will be tried again.'
      : 'A job failed; the next scheduled run tries again.',
  );
  const text = safeText(`${error.code}: ${error.message}`);
  return error.retryable ? new Error(text) : new UnrecoverableError(text);
}

/** Codes of the system, and of PostgreSQL: class 08 (connection), and a server that shuts down or starts up. */
const LOST_CODES =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|08[0-9A-Z]{3}|57P0[1-5])$/;
/** What the drivers say without a code; it is matched and never quoted. */
const LOST_WORDS =
  /^connection (?:terminated|is closed)|timeout exceeded when trying to connect|client has encountered a connection error|max retries per request/i;

/**
 * Why a job failed. Source and targets translate what their connections meet: what is foreign here and tells of a connection
 * comes from the queue's own, between the parts of a job.
 */
export function jobFailure(error: unknown): MirrorError {
  if (error instanceof MirrorError || isAbort(error) || !(error instanceof Error)) {
    return toMirrorError(error);
  }
  const isLost = LOST_CODES.test(errorCode(error) ?? '') || LOST_WORDS.test(error.message);
  return isLost ? unreachable('The queue', error) : toMirrorError(error);
}
