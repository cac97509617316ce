import type { Job } from 'bullmq';
import { z } from 'zod';
import { withinTime } from '../base/clock.ts';
import { iso } from '../base/format.ts';
import type { QueueState, RunningJob } from '../health/report.ts';
import type { ProblemFacts } from '../health/problem-facts.ts';
import { syncData, writeBackData } from './jobs.ts';
import type { OneQueue, QueueContext } from './queues.ts';
import { pollProblem } from './scheduler.ts';

/** Reads the state of the queue; never throws. Empty if the store did not answer in time. */
export async function readStatus(context: QueueContext): Promise<QueueState> {
  const { kind: backend, address } = context.backend;
  const reading = readAll(context).catch((error: unknown) => {
    context.onError(error);
    return undefined;
  });
  const found = await withinTime(reading, context.timings.answerMs, context.clock);
  if (found !== undefined) {
    context.awaySinceMs = null;
    return { backend, address, isReachable: true, ...found };
  }
  context.awaySinceMs ??= context.clock.now();
  const problem: ProblemFacts = {
    code: 'QUEUE_FAILED',
    message: `The queue (${address}) does not answer, so no run can begin.`,
    sinceMs: context.awaySinceMs,
  };
  const nothing = { nextPollAt: null, waiting: 0, active: 0, running: [] };
  return { backend, address, isReachable: false, ...nothing, problem };
}

async function readAll(context: QueueContext) {
  const { queues, nextPollMs } = context;
  // All at once: a promise that failed while another was awaited would be unhandled, and end the process.
  const [problem, counts, running] = await Promise.all([
    pollProblem(context),
    Promise.all(queues.map(({ queue }) => queue.getJobCounts('waiting', 'active'))),
    Promise.all(queues.map(readRunning)),
  ]);
  const sum = (state: 'waiting' | 'active'): number =>
    counts.reduce((total, count) => total + (count[state] ?? 0), 0);
  const totals = { waiting: sum('waiting'), active: sum('active') };
  const nextPollAt = nextPollMs === null ? null : iso(nextPollMs);
  return { problem, nextPollAt, ...totals, running: running.flat() };
}

/** The most jobs that are read of each queue: as many as workers can run. */
const MOST_READ = 100;

const progress = z.object({ seen: z.number(), total: z.number() }).catch({ seen: 0, total: 0 });

async function readRunning({ kind, target, queue }: OneQueue): Promise<RunningJob[]> {
  if (kind === 'poll') return [];
  const step = kind === 'write-back' ? kind : 'sync';
  const payload = kind === 'write-back' ? writeBackData : syncData;
  // One may have ended while it was being read.
  const jobs: (Job | undefined)[] = await queue.getJobs(['active'], 0, MOST_READ - 1);
  return jobs.flatMap((job) => {
    const formId = payload.safeParse(job?.data).data?.formId;
    if (job === undefined || formId === undefined) return [];
    const startedAtMs = job.processedOn ?? job.timestamp;
    const { seen, total } = progress.parse(job.progress);
    const startedAt = iso(startedAtMs);
    return [{ step, formId, target, startedAt, seen, total }];
  });
}
