import { type Clock, systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { openBackend, parseQueueUrl } from '../../src/queue/backends.ts';
import type { QueueEventMap } from '../../src/queue/events.ts';
import type { FlowContext } from '../../src/queue/flows.ts';
import { openQueues } from '../../src/queue/queues.ts';
import { type QueueOptions, type QueueRuntime, startQueue } from '../../src/queue/runtime.ts';
import type { SchedulerContext, Schedules } from '../../src/queue/scheduler.ts';
import type { Timings } from '../../src/queue/timings.ts';
import type { JobHandlers } from '../../src/queue/handlers.ts';

/** Where one test's queue lives. */
export interface QueuePlace {
  readonly queueUrl: string | undefined;
  readonly dataDir: string;
}

/** A store to run the contract against. */
export interface QueueServer {
  /** A fresh, empty place. */
  newPlace(): Promise<QueuePlace>;
  /** Removes a place, once its test has finished. Absent where it takes no room of its own. */
  remove?(place: QueuePlace): Promise<void>;
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

/**
 * Everything some hundred times quicker, except for the lock: on a machine that is busy with other things a process may stand
 * still for seconds, and its job would run twice. A lost job is found after some ten seconds.
 */
export const QUICK: Timings = {
  lockDurationMs: 10_000,
  stalledIntervalMs: 1_000,
  refusedMs: 500,
  progressMs: 0,
  heartbeatMs: 150,
  retry: {
    incremental: { attempts: 3, ...quick },
    full: { attempts: 4, ...quick },
    compare: { attempts: 2, ...quick },
  },
  busy: { attempts: 4, ...quick },
  stopMs: 4_000,
  answerMs: 5_000,
  upkeepMs: 60_000,
};

/** Only what is asked for runs. */
export const NEVER: Schedules = {
  incremental: { cron: '0 0 1 1 *', timeZone: 'UTC' },
  full: { everyMs: 86_400_000 },
  marking: false,
  targets: ['a'],
};

/** As the settings parse it. */
const urlOf = ({ queueUrl }: QueuePlace): URL | undefined =>
  queueUrl === undefined ? undefined : parseQueueUrl(queueUrl);

/** A running queue, with the events that it emitted. */
export interface TestQueue extends QueueRuntime {
  readonly emitted: { readonly name: keyof QueueEventMap; readonly event: object }[];
}

/** Starts a queue at a place. */
export async function startAt(
  place: QueuePlace,
  handlers: JobHandlers,
  schedules: Partial<Schedules> = {},
  more: Partial<QueueOptions> = {},
): Promise<TestQueue> {
  const events = new Events<QueueEventMap>((error) => {
    throw error;
  });
  const emitted: TestQueue['emitted'] = [];
  const names: (keyof QueueEventMap)[] = [
    'job.started',
    'job.completed',
    'job.failed',
    'job.postponed',
    'job.recovered',
    'schedule.overdue',
    'queue.error',
  ];
  for (const name of names) events.on(name, (event) => emitted.push({ name, event }));
  const runtime = await startQueue({
    queueUrl: urlOf(place),
    dataDir: place.dataDir,
    role: 'all',
    handlers,
    schedules: { ...NEVER, ...schedules },
    clock: systemClock,
    logger: silentLogger,
    events,
    timings: QUICK,
    ...more,
  });
  return {
    emitted,
    status: () => runtime.status(),
    runNow: (kind) => runtime.runNow(kind),
    runPasses: (order) => runtime.runPasses(order),
    board: (path) => runtime.board(path),
    stop: () => runtime.stop(),
  };
}

/** The producing side alone, without workers. */
export interface Producer extends FlowContext, SchedulerContext, AsyncDisposable {
  readonly emitted: TestQueue['emitted'];
}

/** Opens a place for adding jobs only. */
export async function produceAt(
  place: QueuePlace,
  schedules: Schedules,
  clock: Clock = systemClock,
): Promise<Producer> {
  const events = new Events<QueueEventMap>();
  const emitted: TestQueue['emitted'] = [];
  events.on('schedule.overdue', (event) => emitted.push({ name: 'schedule.overdue', event }));
  let isOver = false;
  // A server that stops may end a connection that is closing.
  const onError = (error: unknown): void => {
    if (!isOver) throw error;
  };
  const backend = await openBackend('all', {
    url: urlOf(place),
    dataDir: place.dataDir,
    workers: 0,
    upkeepMs: 60_000,
    clock,
    logger: silentLogger,
    onError,
  });
  const queues = openQueues(backend, schedules.targets, onError);
  return {
    backend,
    queues,
    schedules,
    marking: schedules.marking,
    timings: QUICK,
    clock,
    logger: silentLogger,
    events,
    onError,
    emitted,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await queues.close();
      await backend.close(false);
    },
  };
}
