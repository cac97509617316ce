import { type Clock, withinTime } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { PassKind } from '../mirror/types.ts';
import { openBackend } from './backends.ts';
import type { BoardAnswer, QueueBoard } from './board.ts';
import type { QueueEventMap } from './events.ts';
import { createErrorLog } from './error-log.ts';
import { FullPasses } from './processors.ts';
import { openQueues } from './queues.ts';
import {
  applySchedules,
  repairSchedules,
  type SchedulerContext,
  type Schedules,
  tickNow,
} from './scheduler.ts';
import { type RunOrder, runPlaces, type RunStarted } from './run-places.ts';
import { type QueueStatus, readStatus } from './queue-status.ts';
import { DEFAULT_TIMINGS, type Timings } from './timings.ts';
import type { JobHandlers } from './handlers.ts';
import { type AnyWorker, startWorkers, type WorkerContext, workerCount } from './workers.ts';

/** How {@link startQueue} runs the queue. */
export interface QueueOptions {
  /** `redis://`, `rediss://` or `postgres://`; undefined for the embedded queue. `?prefix=` separates mirrors in one store. */
  readonly queueUrl: URL | undefined;
  /** Where the embedded queue keeps its files. */
  readonly dataDir: string;
  /** `all` keeps the schedules too; any number of `worker`s can help it, unless the queue is embedded. */
  readonly role: 'all' | 'worker';
  readonly handlers: JobHandlers;
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<QueueEventMap>;
  readonly random?: () => number;
  /** For tests. */
  readonly timings?: Partial<Timings>;
}

/** A running queue. */
export interface QueueRuntime {
  /** How it stands. Does not throw; see {@link QueueStatus.reachable}. */
  status(): Promise<QueueStatus>;
  /** Shows the jobs to people, read-only and without payloads: a GET of an address that begins with `/queue`. */
  board(path: string): Promise<BoardAnswer>;
  /** One run now, besides the scheduled ones. */
  runNow(kind: PassKind): Promise<void>;
  /** Passes of single forms now, besides the scheduled ones. See {@link runPlaces}. */
  runPasses(order: RunOrder): Promise<RunStarted>;
  /**
   * Takes no more jobs, aborts the running ones, waits some seconds at most for them to end, and closes. What was not
   * finished is put back for the next worker. Never rejects; a second call waits for the first.
   */
  stop(): Promise<void>;
}

/** Opens the queue and starts its workers. Throws SETTINGS, QUEUE_FAILED, QUEUE_FAILED, QUEUE_FAILED or QUEUE_BUSY. */
export async function startQueue(options: QueueOptions): Promise<QueueRuntime> {
  const { clock, logger, events, schedules } = options;
  const timings = { ...DEFAULT_TIMINGS, ...options.timings };
  const onError = createErrorLog(logger, events, clock);
  const backend = await openBackend(options.role, {
    url: options.queueUrl,
    dataDir: options.dataDir,
    workers: workerCount(schedules.targets),
    upkeepMs: timings.upkeepMs,
    clock,
    logger,
    onError,
  });
  const stopping = new AbortController();
  const queues = openQueues(backend, schedules.targets, onError);
  const context: WorkerContext & SchedulerContext = {
    backend,
    queues,
    schedules,
    marking: schedules.marking,
    handlers: options.handlers,
    timings,
    clock,
    random: options.random ?? Math.random,
    logger,
    events,
    onError,
    stopping: stopping.signal,
    fullPasses: new FullPasses(),
  };
  try {
    if (options.role === 'all') await applySchedules(context);
  } catch (error) {
    await queues.close();
    await backend.close(false);
    throw error;
  }
  const workers = startWorkers(context);
  const heartbeat = options.role === 'all' ? startHeartbeat(context) : undefined;
  logger.info({ queue: backend.kind, address: backend.address }, 'The queue is open.');
  return new Runtime(context, workers, stopping, heartbeat);
}

/** Checks the schedules until stopped; a check that fails is logged and followed by the next. */
async function startHeartbeat(context: WorkerContext & SchedulerContext): Promise<void> {
  while (!context.stopping.aborted) {
    try {
      await context.clock.sleep(context.timings.heartbeatMs, context.stopping);
      await repairSchedules(context);
    } catch (error) {
      if (!context.stopping.aborted) context.onError(error);
    }
  }
}

class Runtime implements QueueRuntime {
  readonly #context: WorkerContext & SchedulerContext;
  readonly #workers: readonly AnyWorker[];
  readonly #stopping: AbortController;
  readonly #heartbeat: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #board: Promise<QueueBoard> | undefined;

  constructor(
    context: WorkerContext & SchedulerContext,
    workers: readonly AnyWorker[],
    stopping: AbortController,
    heartbeat: Promise<void> | undefined,
  ) {
    this.#context = context;
    this.#workers = workers;
    this.#stopping = stopping;
    this.#heartbeat = heartbeat;
  }

  status(): Promise<QueueStatus> {
    return readStatus(this.#context);
  }

  async board(path: string): Promise<BoardAnswer> {
    // A failure to load it is not for ever.
    this.#board ??= this.#openBoard().catch((error: unknown) => {
      this.#board = undefined;
      throw error;
    });
    return (await this.#board).get(path);
  }

  async #openBoard(): Promise<QueueBoard> {
    const { openBoard } = await import('./board.ts');
    return openBoard(this.#context.queues.all);
  }

  runNow(kind: PassKind): Promise<void> {
    return tickNow(this.#context, kind);
  }

  runPasses(order: RunOrder): Promise<RunStarted> {
    return runPlaces(this.#context, order);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { clock, timings, logger, backend, onError } = this.#context;
    // Closing first: no worker may take another job once the running ones are aborted.
    const closed = Promise.allSettled(this.#workers.map((worker) => worker.close()));
    this.#stopping.abort();
    let inTime = await settlesWithin(closed, timings.stopMs, clock);
    if (inTime) inTime = await settlesWithin(this.#closeAll(), CLOSE_WITHIN_MS, clock);
    if (inTime) return;
    logger.warn('The queue did not close in time; other workers take over what was not finished.');
    for (const worker of this.#workers) worker.disconnect().catch(onError);
    await settlesWithin(backend.close(true), CLOSE_WITHIN_MS, clock);
  }

  async #closeAll(): Promise<void> {
    await this.#heartbeat;
    await this.#board?.then((board) => board.close()).catch(this.#context.onError);
    await this.#context.queues.close();
    await this.#context.backend.close(false);
  }
}

/** Closing connections takes milliseconds, unless the server is away. */
const CLOSE_WITHIN_MS = 3_000;

/** True when `work` ends in time, whatever its outcome. */
async function settlesWithin(work: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  return (await withinTime(ended, ms, clock)) ?? false;
}
