import { type Clock, withinTime } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { QueueState } from '../health/report.ts';
import { openBackend } from './backends.ts';
import type { BoardAnswer, QueueBoard } from './board.ts';
import { createErrorLog, type QueueEventMap } from './events.ts';
import type { JobHandlers, SyncOrder } from './handlers.ts';
import { DEFAULT_TIMINGS, type Timings } from './jobs.ts';
import { readStatus } from './queue-status.ts';
import { openQueues, type QueueContext, runNow, type RunStarted } from './queues.ts';
import { applySchedule, pollNow, repairSchedule, type Schedule } from './scheduler.ts';
import { startWorkers } from './workers.ts';

/** How {@link startQueue} runs the queue. */
export interface QueueOptions {
  /** `redis://`, `rediss://` or `postgres://`; undefined for the embedded queue. `?prefix=` separates mirrors in one store. */
  readonly queueUrl: URL | undefined;
  /** Where the embedded queue keeps its files. */
  readonly dataDir: string;
  /** `all` keeps the schedule too; any number of `worker`s can help it, unless the queue is embedded. */
  readonly role: 'all' | 'worker';
  readonly handlers: JobHandlers;
  readonly schedule: Schedule;
  /** The names of all targets. */
  readonly targets: readonly string[];
  /** Whether statuses are written back at the source. */
  readonly writesBack: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  readonly random?: () => number;
  /** For tests. */
  readonly timings?: Partial<Timings>;
}

/** A running queue. */
export interface QueueRuntime {
  /** Its state. Does not throw; see {@link QueueState.isReachable}. */
  status(): Promise<QueueState>;
  /** Shows the jobs to people, read-only and without payloads: a GET of an address that begins with `/queue`. */
  board(path: string): Promise<BoardAnswer>;
  /** A poll now, in addition to the scheduled ones. */
  pollNow(): Promise<void>;
  /** Runs of single forms now. See `RunStarted`. */
  runNow(orders: readonly SyncOrder[]): Promise<RunStarted>;
  /**
   * Accepts no further jobs, aborts the running ones, waits some seconds at most for them to end, and closes. An
   * unfinished job goes back to the queue. Never rejects; a second call waits for the first.
   */
  stop(): Promise<void>;
}

/** Opens the queue and starts its workers. Throws SETTINGS or QUEUE_FAILED. */
export async function startQueue(options: QueueOptions): Promise<QueueRuntime> {
  const { clock, logger, targets, role } = options;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const onError = createErrorLog(logger, options.events, clock);
  const backend = await openBackend(role, {
    url: options.queueUrl,
    dataDir: options.dataDir,
    workers: 2 + 2 * targets.length,
    upkeepMs: timings.upkeepMs,
    clock,
    logger,
    onError,
  });
  const stopping = new AbortController();
  const queues = openQueues(backend, targets, onError);
  const context: QueueContext = {
    ...options,
    backend,
    queues,
    timings,
    random: options.random ?? Math.random,
    onError,
    stopping: stopping.signal,
    awaySinceMs: null,
  };
  try {
    if (role === 'all') await applySchedule(context);
  } catch (error) {
    await queues.close();
    await backend.close(false);
    throw error;
  }
  const workers = startWorkers(context);
  const heartbeat = role === 'all' ? keepSchedule(context) : undefined;
  logger.info({ queue: backend.kind, address: backend.address }, 'The queue is open.');

  let board: Promise<QueueBoard> | undefined;
  const openBoard = async (): Promise<QueueBoard> =>
    (await import('./board.ts')).openBoard(queues.all.map(({ queue }) => queue));

  const closeAll = async (): Promise<void> => {
    await heartbeat;
    await board?.then((open) => open.close()).catch(onError);
    await queues.close();
    await backend.close(false);
  };
  const stop = async (): Promise<void> => {
    // Closing first: no worker may take another job once the running ones are aborted.
    const closed = Promise.allSettled(workers.map((worker) => worker.close()));
    stopping.abort();
    let isInTime = await endsWithin(closed, timings.stopMs, clock);
    if (isInTime) isInTime = await endsWithin(closeAll(), CLOSE_WITHIN_MS, clock);
    if (isInTime) return;
    logger.warn('The queue did not close in time; other workers take over the unfinished jobs.');
    for (const worker of workers) worker.disconnect().catch(onError);
    await endsWithin(backend.close(true), CLOSE_WITHIN_MS, clock);
  };

  let stopped: Promise<void> | undefined;
  return {
    status: () => readStatus(context),
    board: async (path) => {
      // A failure to load it is not for ever.
      board ??= openBoard().catch((error: unknown) => {
        board = undefined;
        throw error;
      });
      return (await board).get(path);
    },
    pollNow: () => pollNow(context),
    runNow: (orders) => runNow(context, orders),
    stop: () => (stopped ??= stop()),
  };
}

/** Checks the schedule until stopped; a check that fails is logged and followed by the next. */
async function keepSchedule(context: QueueContext): Promise<void> {
  const { clock, timings, stopping, onError } = context;
  while (!stopping.aborted) {
    try {
      await clock.sleep(timings.heartbeatMs, stopping);
      await repairSchedule(context);
    } catch (error) {
      if (!stopping.aborted) onError(error);
    }
  }
}

/** Closing connections takes milliseconds, unless the server is away. */
const CLOSE_WITHIN_MS = 3_000;

/** True when `work` ends in time, well or not. */
async function endsWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return (await withinTime(ended, ms, clock)) ?? false;
}
