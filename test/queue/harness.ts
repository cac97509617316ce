import { type Clock, systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { openBackend, parseQueueUrl } from '../../src/queue/backends.ts';
import type { QueueEventMap } from '../../src/queue/events.ts';
import type { PlannerContext } from '../../src/queue/planner.ts';
import { openQueues } from '../../src/queue/queues.ts';
import { type QueueOptions, type QueueRuntime, startQueue } from '../../src/queue/runtime.ts';
import type { SchedulerContext } from '../../src/queue/scheduler.ts';
import type { Tuning } from '../../src/queue/tuning.ts';
import type { MirrorWork, Schedules } from '../../src/queue/work.ts';

/** Where one test's queue lives. */
export interface QueuePlace {
  readonly queueUrl: string | undefined;
  readonly dataDir: string;
}

/** A store to run the contract against. */
export interface QueueServer {
  /** A fresh, empty place. */
  newPlace(): Promise<QueuePlace>;
  /** Everything stored in a place, as `queue` or `queue:what`; called while no queue is open there. */
  stored(place: QueuePlace): Promise<string[]>;
  /** Loses everything, as FLUSHALL does. Absent where nobody can do that. */
  wipe?(place: QueuePlace): Promise<void>;
  /** Whether several processes can use one place. */
  readonly shared: boolean;
  /** Takes the locks of running jobs away, as if their worker had been frozen for too long. */
  dropLocks?(place: QueuePlace): Promise<void>;
  /** Loses the ticks that are on the way, leaving the schedules. */
  dropTicks?(place: QueuePlace): Promise<void>;
  /** Kills the server. Absent where there is none, or it is not ours. */
  kill?(): Promise<void>;
  /** Starts it again. */
  restart?(): Promise<void>;
  close(): Promise<void>;
}

const quick = { baseDelayMs: 20, maxDelayMs: 40, maxServerDelayMs: 40 };

/** Everything some hundred times quicker; a lost job is found after some three seconds. */
export const QUICK: Tuning = {
  lockDurationMs: 3_000,
  stalledIntervalMs: 1_000,
  heartbeatMs: 150,
  retry: { incremental: { attempts: 3, ...quick }, full: { attempts: 4, ...quick } },
  busy: { attempts: 4, ...quick },
  stopMs: 4_000,
  answerMs: 1_000,
  upkeepMs: 60_000,
};

/** Only what is asked for runs. */
export const NEVER: Schedules = {
  incremental: { cron: '0 0 1 1 *', timeZone: 'UTC' },
  full: { everyMs: 86_400_000 },
  marking: false,
  targets: ['a'],
};

/** A running queue, with what it told. */
export interface TestQueue extends QueueRuntime {
  readonly told: { readonly name: keyof QueueEventMap; readonly event: object }[];
}

/** Starts a queue at a place. */
export async function startAt(
  place: QueuePlace,
  work: MirrorWork,
  schedules: Partial<Schedules> = {},
  more: Partial<QueueOptions> = {},
): Promise<TestQueue> {
  const events = new Events<QueueEventMap>((error) => {
    throw error;
  });
  const told: TestQueue['told'] = [];
  const names: (keyof QueueEventMap)[] = [
    'job.started',
    'job.completed',
    'job.failed',
    'job.postponed',
    'job.recovered',
    'schedule.overdue',
    'queue.fault',
  ];
  for (const name of names) events.on(name, (event) => told.push({ name, event }));
  const runtime = await startQueue({
    ...place,
    role: 'all',
    work,
    schedules: { ...NEVER, ...schedules },
    concurrency: 2,
    clock: systemClock,
    logger: silentLogger,
    events,
    tuning: QUICK,
    ...more,
  });
  return {
    told,
    status: () => runtime.status(),
    pause: (target) => runtime.pause(target),
    resume: (target) => runtime.resume(target),
    runNow: (kind) => runtime.runNow(kind),
    stop: () => runtime.stop(),
  };
}

/** The producing side alone, without workers. */
export interface Producer extends PlannerContext, SchedulerContext, AsyncDisposable {
  readonly told: TestQueue['told'];
}

/** Opens a place for adding jobs only. */
export async function produceAt(
  place: QueuePlace,
  schedules: Schedules,
  clock: Clock = systemClock,
): Promise<Producer> {
  const events = new Events<QueueEventMap>();
  const told: TestQueue['told'] = [];
  events.on('schedule.overdue', (event) => told.push({ name: 'schedule.overdue', event }));
  const faults = (error: unknown): never => {
    throw error;
  };
  const backend = await openBackend('all', {
    url: parseQueueUrl(place.queueUrl),
    dataDir: place.dataDir,
    workers: 0,
    upkeepMs: 60_000,
    clock,
    logger: silentLogger,
    faults,
  });
  const queues = openQueues(backend, schedules.targets, faults);
  return {
    backend,
    queues,
    schedules,
    marking: schedules.marking,
    tuning: QUICK,
    clock,
    logger: silentLogger,
    events,
    faults,
    told,
    [Symbol.asyncDispose]: async () => {
      await queues.close();
      await backend.close(false);
    },
  };
}
