import { withinTime } from '../base/clock.ts';
import type { PassKind } from '../mirror/types.ts';
import type { BackendKind } from './backends/backend.ts';
import {
  type ActiveSideJob,
  readRunning,
  readSideJobs,
  readWorkers,
  type RunningPassJob,
} from './job-progress.ts';
import { passData } from './jobs.ts';
import { type AnyQueue, QUEUE_KINDS, type Queues } from './queues.ts';
import { readSchedules, type SchedulerContext } from './scheduler.ts';

/** State of the queue, for the status page, `status` and metrics. */
export interface QueueStatus {
  readonly backend: BackendKind;
  /** Where it is; no password. */
  readonly address: string;
  /** False when the store did not answer in time; then the lists are empty. */
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleStatus[];
  readonly queues: readonly QueueCounts[];
  /** Full passes that failed and are tried again; the first some hundred of each target. */
  readonly retries: readonly QueuedRetry[];
  /** The passes that run now, in whichever process. */
  readonly running: readonly RunningPassJob[];
  /** What their workers do besides. */
  readonly sideJobs: readonly ActiveSideJob[];
  /** The processes that take jobs; null where the store does not tell. */
  readonly workers: readonly string[] | null;
}

/** A full pass that failed, and when it is tried again (ISO). */
export interface QueuedRetry {
  readonly formId: string;
  readonly target: string;
  readonly at: string;
}

/** When passes of a kind run next. */
export interface ScheduleStatus {
  readonly kind: PassKind;
  /** ISO 8601 in UTC; null when the store has no such schedule. */
  readonly nextRunAt: string | null;
  readonly overdue: boolean;
}

/** The jobs of one queue. */
export interface QueueCounts {
  readonly step: 'plan' | 'sync' | 'mark';
  /** Null for planning and marking, which serve all. */
  readonly target: string | null;
  readonly kind: PassKind | null;
  readonly waiting: number;
  /** When the one was added that is the next to be taken; null where none waits. */
  readonly waitingSinceMs: number | null;
  readonly active: number;
  /** Waiting for a retry, for another pass to end, or (planning) for its time. */
  readonly delayed: number;
  /** Marks that wait for passes. */
  readonly waitingForPasses: number;
}

/** Reads the state of the queue; never throws. */
export async function readStatus(context: SchedulerContext): Promise<QueueStatus> {
  const { backend } = context;
  const place = { backend: backend.kind, address: backend.address };
  const reading = readAll(context).catch((error: unknown) => {
    context.onError(error);
    return undefined;
  });
  const found = await withinTime(reading, context.timings.answerMs, context.clock);
  if (found === undefined) return { ...place, reachable: false, ...NOTHING };
  return { ...place, reachable: true, ...found };
}

const NOTHING = {
  schedules: [],
  queues: [],
  retries: [],
  running: [],
  sideJobs: [],
  workers: null,
};

async function readAll(
  context: SchedulerContext,
): Promise<Omit<QueueStatus, 'backend' | 'address' | 'reachable'>> {
  const { queues } = context;
  const states = await readSchedules(context);
  const schedules = states.map(({ kind, nextRunAt, overdue }) => ({
    kind,
    nextRunAt: nextRunAt === null ? null : new Date(nextRunAt).toISOString(),
    overdue,
  }));
  const counts = [
    count(queues.plan, { step: 'plan', target: null, kind: null }),
    count(queues.mark, { step: 'mark', target: null, kind: null }),
  ];
  for (const target of queues.targets) {
    for (const kind of QUEUE_KINDS) {
      const queue = queues.passes(kind, target);
      if (queue !== undefined) counts.push(count(queue, { step: 'sync', target, kind }));
    }
  }
  // All at once: a count that failed while something else was awaited would be nobody's, and end the process.
  const [depths, retries, running, sideJobs, workers] = await Promise.all([
    Promise.all(counts),
    readRetries(queues),
    readRunning(queues),
    readSideJobs(queues),
    readWorkers(queues),
  ]);
  return { schedules, queues: depths, retries, running, sideJobs, workers };
}

const MAX_RETRIES_READ = 200;

async function readRetries(queues: Queues): Promise<QueuedRetry[]> {
  const retries: QueuedRetry[] = [];
  for (const target of queues.targets) {
    const jobs = await queues.passes('full', target)?.getDelayed(0, MAX_RETRIES_READ - 1);
    for (const job of jobs ?? []) {
      const { data } = passData.safeParse(job?.data);
      const at = data?.againAt ?? null;
      if (data !== undefined && at !== null) retries.push({ formId: data.formId, target, at });
    }
  }
  return retries;
}

async function count(
  queue: AnyQueue,
  name: Pick<QueueCounts, 'step' | 'target' | 'kind'>,
): Promise<QueueCounts> {
  const counts = await queue.getJobCounts('active', 'delayed', 'waiting-children');
  const of = (state: string): number => counts[state] ?? 0;
  // Newest first. All of them, as the first in ascending order is, on PostgreSQL, the newest, too.
  const [waiting = []] = await queue.getBackend().getRanges(['waiting'], 0, -1);
  const [oldest] = waiting.slice(-1);
  const next = oldest === undefined ? undefined : await queue.getJob(oldest);
  return {
    ...name,
    waiting: waiting.length,
    waitingSinceMs: next?.timestamp ?? null,
    active: of('active'),
    delayed: of('delayed'),
    waitingForPasses: of('waiting-children'),
  };
}
