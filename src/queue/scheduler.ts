import { CronExpressionParser } from 'cron-parser';
import { MirrorError } from '../base/errors.ts';
import { exact } from '../base/format.ts';
import type { Trouble } from '../health/trouble.ts';
import { jobOptions } from './jobs.ts';
import type { QueueContext } from './queues.ts';

/*
 * One job scheduler of BullMQ adds the polls. At the start it is made to agree with the settings. From then on a heartbeat
 * checks it: it is created again when the store has lost it (a flushed Redis), and when a poll is long overdue and no job for
 * it exists. After a poll that was late by more than its interval, PostgreSQL's scheduler skips up to one more slot.
 */

/** When polls happen. */
export type Schedule =
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timeZone: string };

/** The name of the scheduler, and of its jobs. */
const POLL = 'poll';

/**
 * Makes the store follow the schedule of the settings. With an interval, a poll also begins now: a person who starts the program
 * wants to see something happen; a cron expression is followed to the letter.
 */
export async function applySchedule(context: QueueContext): Promise<void> {
  const { schedule, queues } = context;
  const stored = await queues.poll.getJobScheduler(POLL);
  const isKept = !('everyMs' in schedule) || stored?.every === intervalOf(schedule);
  // BullMQ 6.7 on PostgreSQL keeps the offset of the former interval, and adds it to the time after a late poll.
  if (!isKept) await queues.poll.removeJobScheduler(POLL);
  await upsert(context);
  // A new schedule with an interval begins with a poll anyway.
  if (isKept && 'everyMs' in schedule) await pollNow(context);
}

/** Adds a poll to the scheduled ones. A second call before it began adds nothing; one that waits for another try begins. */
export async function pollNow({ queues, timings }: QueueContext): Promise<void> {
  const jobId = 'poll-now';
  const before = await queues.poll.getJob(jobId);
  // A worker may take it at this moment: then it begins anyway.
  if ((await before?.isDelayed()) === true) await before?.promote().catch(() => undefined);
  await queues.poll.add(POLL, {}, { ...jobOptions('poll', timings), jobId });
}

/** One heartbeat: creates the schedule again if the store has lost it, and repairs and reports a poll that is overdue. */
export async function repairSchedule(context: QueueContext): Promise<void> {
  const { poll } = context.queues;
  const nextMs = (await poll.getJobScheduler(POLL))?.next;
  if (nextMs === undefined) {
    context.logger.warn('The queue has lost its schedule; it is created again.');
    return upsert(context);
  }
  const trouble = await latenessOf(context, nextMs);
  if (trouble === null) return;
  context.onError(new MirrorError(trouble.code, trouble.message));
  // Where it exists, it is only late: a worker takes it when one is free.
  const jobs = await poll.getJobs(['waiting', 'delayed', 'active', 'prioritized']);
  if (jobs.some((job) => job?.repeatJobKey === POLL)) return;
  await poll.removeJobScheduler(POLL);
  await upsert(context);
}

/** When the next poll is due (null: the store has no schedule), and what is wrong if that is long ago. */
export async function readSchedule(
  context: QueueContext,
): Promise<{ readonly nextPollAt: string | null; readonly trouble: Trouble | null }> {
  const nextMs = (await context.queues.poll.getJobScheduler(POLL))?.next ?? null;
  if (nextMs === null) return { nextPollAt: null, trouble: null };
  const nextPollAt = new Date(nextMs).toISOString();
  return { nextPollAt, trouble: await latenessOf(context, nextMs) };
}

/** During a poll, the next one waits behind it, even if the source is slow: it is not late. */
async function latenessOf(context: QueueContext, nextMs: number): Promise<Trouble | null> {
  const { schedule, timings, queues, clock } = context;
  const toleranceMs = Math.max(2 * (nextRunMs(schedule, nextMs) - nextMs), 4 * timings.heartbeatMs);
  if (clock.now() - nextMs <= toleranceMs || (await queues.poll.getActiveCount()) > 0) return null;
  const dueAt = exact(new Date(nextMs).toISOString());
  return {
    code: 'QUEUE_FAILED',
    title: 'The scheduler has stopped',
    message: `The poll that was due at ${dueAt} has not begun.`,
    sinceMs: nextMs,
  };
}

/** Milliseconds between two polls; infinite where a cron expression says when. */
export const intervalOf = (schedule: Schedule): number =>
  'cron' in schedule ? Number.POSITIVE_INFINITY : Math.round(schedule.everyMs);

/** When the next poll is due after one that began at `afterMs`. Both in milliseconds since the epoch. */
export function nextRunMs(schedule: Schedule, afterMs: number): number {
  if ('everyMs' in schedule) return afterMs + schedule.everyMs;
  const { cron, timeZone: tz } = schedule;
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(afterMs) })
    .next()
    .getTime();
}

async function upsert({ queues, schedule, timings }: QueueContext): Promise<void> {
  await queues.poll.upsertJobScheduler(
    POLL,
    'cron' in schedule
      ? { pattern: schedule.cron, tz: schedule.timeZone }
      : { every: intervalOf(schedule) },
    { name: POLL, data: {}, opts: jobOptions('poll', timings) },
  );
}
