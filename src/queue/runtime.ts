import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { withinTime } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { QueueState } from '../health/report.ts';
import type { OutcomeName } from '../mirror/form-state.ts';
import type { PollReport } from '../sync/poll.ts';
import type { SyncEvents } from '../sync/events.ts';
import { openBackend, type StoreOptions } from './backends.ts';
import { createErrorLog } from './error-log.ts';
import type { SyncOrder } from './jobs.ts';
import { DEFAULT_TIMINGS, type Timings } from './jobs.ts';
import { readStatus } from './queue-status.ts';
import { openQueues, type QueueContext, runNow } from './queues.ts';
import type { Schedule } from './schedule.ts';
import { keepSchedule, pollNow } from './scheduler.ts';
import { startWorkers } from './workers.ts';

/** What a poll found to do. */
export type PollFound = Pick<PollReport, 'syncs' | 'writeBacks'>;

/**
 * The work of the jobs. The queue decides when and how often to do it, and does not know its content. Every handler may run twice,
 * even at the same time, and must stop soon after its signal aborts (after the current batch). Runs and write-backs log how they
 * end.
 */
export interface JobHandlers {
  /** Checks the workspace for changes. Throws MirrorError. */
  readonly poll: (signal: AbortSignal) => Promise<PollFound>;

  /**
   * One run, if the settings have the form mirrored there. Throws a MirrorError if it failed, was stopped or met another run; a
   * retryable one is tried again.
   */
  readonly sync: (
    order: SyncOrder,
    signal: AbortSignal,
    onProgress: (seen: number, total: number) => void,
  ) => Promise<OutcomeName>;

  /**
   * The write-back of a form, if the settings ask for it. It ends early, without an error, while a run of the form waits
   * (`isAwaited`), which adds it again. Throws MirrorError.
   */
  readonly writeBack: (
    formId: string,
    signal: AbortSignal,
    isAwaited: () => Promise<boolean>,
  ) => Promise<void>;
}

/** Options of {@link startQueue}. */
export interface QueueOptions extends StoreOptions {
  readonly handlers: JobHandlers;
  readonly schedule: Schedule;
  /** The names of all targets. */
  readonly targets: readonly string[];
  /** Whether statuses are written back at the source. */
  readonly writesBack: boolean;
  readonly events: Events<SyncEvents>;
  /** For tests. */
  readonly timings?: Partial<Timings>;
}

/** A running queue. */
export interface QueueRuntime {
  /** Its state. Does not throw; see {@link QueueState.isReachable}. */
  status(): Promise<QueueState>;
  /** Shows the jobs to people, read-only and without payloads, for a GET of an address that begins with `/queue`. */
  board(path: string): Promise<LightMyRequestResponse>;
  /** Starts a poll now, unless one is under way. */
  pollNow(): Promise<void>;
  /** Runs single forms now, except those that are running. Returns the runs that begin as soon as a worker is free. */
  runNow(orders: readonly SyncOrder[]): Promise<readonly SyncOrder[]>;
  /**
   * Accepts no further jobs, aborts the running ones, waits at most some seconds for them to end, and closes. An unfinished job
   * goes back to the queue. Never rejects; a second call waits for the first.
   */
  stop(): Promise<void>;
}

/** Opens the queue and starts its workers. Throws SETTINGS or QUEUE_FAILED. */
export async function startQueue(options: QueueOptions): Promise<QueueRuntime> {
  const { clock, logger, targets, role } = options;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const onError = createErrorLog(logger, clock);
  const { upkeepMs } = timings;
  const workers = 2 + 2 * targets.length;
  const backend = await openBackend({ ...options, workers, upkeepMs, onError });
  const stopping = new AbortController();
  const queues = openQueues(backend, targets, onError);
  const context: QueueContext = {
    ...options,
    backend,
    queues,
    timings,
    onError,
    stopping: stopping.signal,
    awaySinceMs: null,
    refusedSinceMs: null,
    nextPollMs: null,
  };
  const running = startWorkers(context);
  const schedule = role === 'start' ? keepSchedule(context) : undefined;
  logger.info({ queue: backend.kind, address: backend.address }, 'The queue is open.');

  let board: Promise<FastifyInstance> | undefined;
  const openBoard = async (): Promise<FastifyInstance> =>
    (await import('./board.ts')).openBoard(queues.map(({ queue }) => queue));

  const close = async (): Promise<boolean> => {
    // First of all: no worker may take another job after the running ones are aborted.
    const closed = Promise.allSettled(running.map((worker) => worker.close()));
    stopping.abort();
    await closed;
    await schedule;
    await board?.then((open) => open.close()).catch(onError);
    await Promise.allSettled(queues.map(({ queue }) => queue.close()));
    await backend.close(false);
    return true;
  };
  const stop = async (): Promise<void> => {
    if (await withinTime(close(), timings.stopMs, clock)) return;
    logger.warn('The queue did not close in time; other workers take over the unfinished jobs.');
    for (const worker of running) worker.disconnect().catch(onError);
    await backend.close(true);
  };

  let stopped: Promise<void> | undefined;
  return {
    status: () => readStatus(context),
    board: async (path) => (await (board ??= openBoard())).inject({ method: 'GET', url: path }),
    pollNow: () => pollNow(context),
    runNow: (orders) => runNow(context, orders),
    stop: () => (stopped ??= stop()),
  };
}
