import type { JobSchedulerJson } from 'bullmq';
import { CronExpressionParser } from 'cron-parser';
import { MirrorError } from '../base/errors.ts';
import { exact } from '../base/format.ts';
import type { Trouble } from '../health/trouble.ts';
import { jobOptions, pollData } from './jobs.ts';
import { type QueueContext, removeQueues } from './queues.ts';

/*
 * One job scheduler of BullMQ adds the polls. At the start it is made to agree with the settings. From then on a heartbeat
 * checks it: it is created again when the store has lost it (a flushed Redis), and when a poll is long overdue and no job for
 * it exists. And it keeps its rhythm, which PostgreSQL's scheduler loses after a poll that was late by more than its interval.
 */

/** When polls happen. */
export type Schedule =
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timeZone: string };

/** The name of the scheduler, and of its jobs. */
const POLL = 'poll';

/**
 * Makes the store agree with the settings: the schedule, and the queues of targets. With an interval, a poll also begins now: a
 * person who starts the program wants to see something happen; a cron expression is followed to the letter. Throws SETTINGS for an
 * invalid cron expression or time zone.
 */
export async function applySchedule(context: QueueContext): Promise<void> {
  const { schedule } = context;
  if ('cron' in schedule) assertCron(schedule);
  const stored = await context.queues.poll.getJobScheduler(POLL);
  const { targets: before } = pollData.parse(stored?.template?.data ?? {});
  const { targets } = context;
  await removeQueues(
    context,
    before.filter((name) => !targets.includes(name)),
  );
  // BullMQ pauses a queue before it removes it. One whose removal was cut short is wanted again.
  await Promise.all(context.queues.all.map(({ queue }) => queue.resume()));
  const isSame = agrees(schedule, stored);
  if (!isSame || before.join() !== targets.join()) await upsert(context);
  // A new schedule with an interval begins with a poll anyway.
  if (isSame && 'everyMs' in schedule) await pollNow(context);
}

/** Adds a poll to the scheduled ones. A second call before it began adds nothing; one that waits for another try begins. */
export async function pollNow({ queues, timings }: QueueContext): Promise<void> {
  const jobId = 'poll-now';
  const before = await queues.poll.getJob(jobId);
  // A worker may take it at this moment: then it begins anyway.
  if ((await before?.isDelayed()) === true) await before?.promote().catch(() => undefined);
  await queues.poll.add(POLL, {}, { ...jobOptions('poll', timings), jobId });
}

/** One heartbeat: creates the schedule again if the store has lost it, keeps its rhythm, and repairs and reports a poll that is overdue. */
export async function repairSchedule(context: QueueContext): Promise<void> {
  const nextMs = await keepRhythm(context);
  if (nextMs === null) {
    context.logger.warn('The queue has lost its schedule; it is created again.');
    return upsert(context);
  }
  const trouble = await latenessOf(context, nextMs);
  if (trouble === null) return;
  context.onError(new MirrorError(trouble.code, trouble.message));
  // Where it exists, it is only late: a worker takes it when one is free.
  const { poll } = context.queues;
  const jobs = await poll.getJobs(['waiting', 'delayed', 'active', 'prioritized']);
  if (jobs.some((job) => job?.repeatJobKey === POLL)) return;
  await poll.removeJobScheduler(POLL);
  await upsert(context);
}

/**
 * Returns when the next poll is due (milliseconds since the epoch; null: the store has no schedule), and takes it back if it
 * is later than one interval from now. PostgreSQL's scheduler adds offset and interval to the slot of now, which may be nearly
 * two intervals, where Redis takes the next slot. Only remove and upsert moves it.
 */
export async function keepRhythm(context: QueueContext): Promise<number | null> {
  const stored = await context.queues.poll.getJobScheduler(POLL);
  const nextMs = stored?.next ?? null;
  const everyMs = intervalOf(context.schedule);
  if (nextMs === null || stored?.every !== everyMs) return nextMs;
  const slotsLate = Math.ceil((nextMs - context.clock.now()) / everyMs) - 1;
  if (slotsLate < 1) return nextMs;
  const atMs = nextMs - slotsLate * everyMs;
  await context.queues.poll.removeJobScheduler(POLL);
  await upsert(context, atMs);
  return atMs;
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
  const toleranceMs = Math.max(2 * periodAt(schedule, nextMs), 4 * timings.heartbeatMs);
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

function periodAt(schedule: Schedule, nextMs: number): number {
  if ('everyMs' in schedule) return schedule.everyMs;
  const { cron, timeZone } = schedule;
  const times = CronExpressionParser.parse(cron, { tz: timeZone, currentDate: new Date(nextMs) });
  return times.next().getTime() - nextMs;
}

/** Writes the schedule; its first poll begins now, or at `startMs`. */
async function upsert(context: QueueContext, startMs?: number): Promise<void> {
  const { schedule, timings, targets } = context;
  await context.queues.poll.upsertJobScheduler(
    POLL,
    'cron' in schedule
      ? { pattern: schedule.cron, tz: schedule.timeZone }
      : { every: intervalOf(schedule), ...(startMs !== undefined && { startDate: startMs }) },
    { name: POLL, data: { targets }, opts: jobOptions('poll', timings) },
  );
}

const agrees = (schedule: Schedule, stored: JobSchedulerJson | undefined): boolean =>
  'cron' in schedule
    ? stored?.pattern === schedule.cron && stored.tz === schedule.timeZone
    : stored?.every === intervalOf(schedule);

function assertCron({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }) {
  try {
    CronExpressionParser.parse(cron, { tz: timeZone }).next();
  } catch (cause) {
    throw new MirrorError(
      'SETTINGS',
      `SYNC_CRON "${cron}" in time zone "${timeZone}" (SYNC_TZ) is not a schedule. Example: SYNC_CRON="*/15 8-18 * * 1-5" SYNC_TZ=Europe/Prague`,
      { cause },
    );
  }
}
