import type { ProblemFacts } from '../health/problem-facts.ts';
import { exact } from '../base/format.ts';
import { jobOptions } from './jobs.ts';
import { type QueueContext, queueFor } from './queues.ts';
import { nextRunMs } from './schedule.ts';

/*
 * The process that keeps the schedule adds a poll whenever one is due. The store has no schedule, so none can get lost or outlive a
 * change of the settings.
 */

/** The name and the ID of a poll: there is one job at most. */
const POLL = 'poll';

/**
 * Adds polls at their times until stopped. With an interval, the first begins now, because a person who starts the program wants to
 * see something happen; a cron expression is followed exactly. If a poll cannot be added, it is logged, and added a little later.
 */
export async function keepSchedule(context: QueueContext): Promise<void> {
  const { schedule, clock, timings, stopping, onError } = context;
  const nowMs = clock.now();
  context.nextPollMs = 'everyMs' in schedule ? nowMs : nextRunMs(schedule, nowMs);
  while (!stopping.aborted) {
    try {
      // In short waits: the machine may sleep, and its clock may be set, even back.
      context.nextPollMs = Math.min(context.nextPollMs, nextRunMs(schedule, clock.now()));
      const restMs = context.nextPollMs - clock.now();
      await clock.sleep(Math.max(0, Math.min(restMs, timings.heartbeatMs)), stopping);
      if (clock.now() < context.nextPollMs) continue;
      // Before the poll is added: it may have ended before the store confirms it.
      context.nextPollMs = nextRunMs(schedule, clock.now());
      await pollNow(context);
      context.refusedSinceMs = null;
    } catch (error) {
      if (stopping.aborted) return;
      onError(error);
      context.refusedSinceMs ??= clock.now();
      context.nextPollMs = clock.now() + timings.heartbeatMs;
    }
  }
}

/** Adds a poll, unless one waits or is under way. A poll that waits for a retry begins. */
export async function pollNow(context: QueueContext): Promise<void> {
  const queue = queueFor(context, 'poll');
  const before = await queue.getJob(POLL);
  // If a worker takes or ends it at this moment, BullMQ refuses, and the poll runs anyway.
  if (await before?.isDelayed()) await before?.promote().catch(() => undefined);
  await queue.add(POLL, {}, { ...jobOptions(context.timings), jobId: POLL });
}

/** The problem that polls cannot be added, or that no worker takes one that has waited long while none is under way; null: all is well. */
export async function pollProblem(context: QueueContext): Promise<ProblemFacts | null> {
  const { timings, clock, refusedSinceMs, backend } = context;
  if (refusedSinceMs !== null) {
    const message = `The queue (${backend.address}) takes no new jobs, so no run can begin. Its memory or its disk may be full.`;
    return { code: 'QUEUE_FAILED', message, sinceMs: refusedSinceMs };
  }
  const job = await queueFor(context, 'poll').getJob(POLL);
  if (job === undefined || job.attemptsStarted > 0) return null;
  if (clock.now() - job.timestamp < timings.lateMs) return null;
  const dueAt = exact(job.timestamp);
  return {
    code: 'QUEUE_FAILED',
    message: `The poll that was due at ${dueAt} has not begun.`,
    sinceMs: job.timestamp,
  };
}
