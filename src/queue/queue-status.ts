import type { PassKind } from '../mirror/types.ts';
import type { BackendKind } from './backends.ts';
import type { AnyQueue } from './queues.ts';
import { KINDS, type SchedulerContext, readSchedules } from './scheduler.ts';

/** How the queue stands, for the status page, `status` and metrics. */
export interface QueueStatus {
  readonly backend: BackendKind;
  /** Where it is; no password. */
  readonly address: string;
  /** False when the store did not answer in time; then the lists are empty. */
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleStatus[];
  readonly queues: readonly QueueCounts[];
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
  readonly paused: boolean;
  readonly waiting: number;
  readonly active: number;
  /** Waiting for a retry, for another pass to end, or (planning) for its time. */
  readonly delayed: number;
  /** Marks that wait for passes. */
  readonly waitingForPasses: number;
}

/** Reads it; never throws. */
export async function readStatus(context: SchedulerContext): Promise<QueueStatus> {
  const { backend } = context;
  const place = { backend: backend.kind, address: backend.address };
  const timer = new AbortController();
  const late = context.clock.sleep(context.tuning.answerMs, timer.signal).then(() => undefined);
  const reading = readAll(context).catch((error: unknown) => {
    context.faults(error);
    return undefined;
  });
  const found = await Promise.race([reading, late]);
  timer.abort();
  late.catch(() => undefined);
  if (found === undefined) return { ...place, reachable: false, schedules: [], queues: [] };
  return { ...place, reachable: true, ...found };
}

async function readAll(
  context: SchedulerContext,
): Promise<Pick<QueueStatus, 'schedules' | 'queues'>> {
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
    for (const kind of KINDS) {
      const queue = queues.passes(kind, target);
      if (queue !== undefined) counts.push(count(queue, { step: 'sync', target, kind }));
    }
  }
  return { schedules, queues: await Promise.all(counts) };
}

async function count(
  queue: AnyQueue,
  name: Pick<QueueCounts, 'step' | 'target' | 'kind'>,
): Promise<QueueCounts> {
  const counts = await queue.getJobCounts('active', 'delayed', 'waiting-children');
  const of = (state: string): number => counts[state] ?? 0;
  // Counted one by one: on PostgreSQL the count of a paused queue's waiting jobs is always 0.
  const [waiting] = await queue.getBackend().getRanges(['waiting'], 0, -1);
  return {
    ...name,
    paused: await queue.isPaused(),
    waiting: waiting?.length ?? 0,
    active: of('active'),
    delayed: of('delayed'),
    waitingForPasses: of('waiting-children'),
  };
}
