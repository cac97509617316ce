import { systemClock } from '../../src/base/clock.ts';
import { Events } from '../../src/base/events.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { QueueEventMap } from '../../src/queue/events.ts';
import { type QueueOptions, type QueueRuntime, startQueue } from '../../src/queue/runtime.ts';
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
  /** Kills the server and starts it again. Absent where there is none. */
  restart?(): Promise<void>;
  close(): Promise<void>;
}

const quick = { baseDelayMs: 20, maxDelayMs: 40, maxServerDelayMs: 40 };

/** Everything some hundred times quicker; a lost job is found after some three seconds. */
export const QUICK: Tuning = {
  lockDurationMs: 3_000,
  stalledIntervalMs: 1_000,
  heartbeatMs: 150,
  retry: { incremental: { attempts: 4, ...quick }, full: { attempts: 4, ...quick } },
  busy: { attempts: 4, ...quick },
  stopMs: 4_000,
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
