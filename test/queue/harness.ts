import { systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { openBackend, parseQueueUrl } from '../../src/queue/backends.ts';
import type { SyncEvents } from '../../src/sync/events.ts';
import type { JobHandlers } from '../../src/queue/runtime.ts';
import type { Timings } from '../../src/queue/jobs.ts';
import { openQueues, type QueueContext } from '../../src/queue/queues.ts';
import { type QueueOptions, type QueueRuntime, startQueue } from '../../src/queue/runtime.ts';
import type { Schedule } from '../../src/queue/schedule.ts';
import { FakeHandlers } from './fake-handlers.ts';

/** The place of one test's queue. */
export interface QueuePlace {
  readonly queueUrl: string | undefined;
  readonly dataDir: string;
}

/** A store for the contract. */
export interface QueueServer {
  /** A fresh, empty place. */
  newPlace(): Promise<QueuePlace>;
  /** Removes a place after its test. Absent if it takes no space. */
  remove?(place: QueuePlace): Promise<void>;
  /** Everything stored in a place, as `queue` or `queue:what`; called while no queue is open there. */
  stored(place: QueuePlace): Promise<string[]>;
  /** Loses everything, as FLUSHALL does. Absent if that is impossible. */
  wipe?(place: QueuePlace): Promise<void>;
  /** Whether several processes can use one place. */
  readonly shared: boolean;
  /** Removes the locks of running jobs, as if their worker had been frozen for too long. */
  dropLocks?(place: QueuePlace): Promise<void>;
  /** Kills the server. Absent if there is none, or it is not ours. */
  kill?(): Promise<void>;
  /** Starts it again. */
  restart?(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Everything about a hundred times faster, except for the lock: on a busy machine a process may stop for seconds, and its
 * job would run twice. A lost job is found after about ten seconds.
 */
export const QUICK: Timings = {
  lockDurationMs: 10_000,
  stalledIntervalMs: 1_000,
  refusedMs: 500,
  progressMs: 0,
  heartbeatMs: 150,
  lateMs: 60_000,
  attempts: 3,
  retryMs: 20,
  stopMs: 4_000,
  answerMs: 5_000,
  upkeepMs: 60_000,
};

/** Only requested jobs run. */
export const NEVER: Schedule = { cron: '0 0 1 1 *', timeZone: 'UTC' };

/** As the settings parse it. */
const urlOf = ({ queueUrl }: QueuePlace): URL | undefined =>
  queueUrl === undefined ? undefined : parseQueueUrl(queueUrl);

/** A running queue, with the events that it emitted. */
export interface TestQueue extends QueueRuntime {
  readonly ended: SyncEvents['job.ended'][];
  readonly errors: string[];
}

/** Starts a queue at a place. */
export async function startAt(
  place: QueuePlace,
  handlers: JobHandlers,
  more: Partial<QueueOptions> = {},
): Promise<TestQueue> {
  const events = new Events<SyncEvents>((error) => {
    throw error;
  });
  const ended: TestQueue['ended'] = [];
  const errors: string[] = [];
  events.on('job.ended', (event) => ended.push(event));
  const logger = createLogger('warn', {
    write: (line) => errors.push(...[(JSON.parse(line) as { error?: string }).error ?? []].flat()),
  });
  const runtime = await startQueue({
    queueUrl: urlOf(place),
    dataDir: place.dataDir,
    role: 'start',
    handlers,
    schedule: NEVER,
    targets: ['a'],
    writesBack: false,
    clock: systemClock,
    logger,
    events,
    timings: QUICK,
    ...more,
  });
  return { ...runtime, ended, errors };
}

/** The producing side without workers. */
type Producer = QueueContext & AsyncDisposable;

/** Opens a place only for adding jobs. */
export async function produceAt(
  place: QueuePlace,
  targets: readonly string[] = ['a'],
): Promise<Producer> {
  const onError = (): void => {};
  const options = {
    queueUrl: urlOf(place),
    dataDir: place.dataDir,
    role: 'start',
    clock: systemClock,
    logger: silentLogger,
    onError,
  } as const;
  const backend = await openBackend({ ...options, workers: 0, upkeepMs: 60_000 });
  const queues = openQueues(backend, targets, onError);
  return {
    ...options,
    backend,
    queues,
    handlers: new FakeHandlers([]),
    schedule: NEVER,
    targets,
    writesBack: false,
    events: new Events<SyncEvents>(),
    timings: QUICK,
    stopping: new AbortController().signal,
    awaySinceMs: null,
    refusedSinceMs: null,
    nextPollMs: null,
    async [Symbol.asyncDispose]() {
      await Promise.all(queues.map(({ queue }) => queue.close()));
      await backend.close(false);
    },
  };
}
