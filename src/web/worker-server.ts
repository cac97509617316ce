import { fastify } from 'fastify';
import { type Clock, withinTime } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/transport.ts';
import type { SyncEvents } from '../sync/events.ts';
import { guardAccess } from './access.ts';
import { listen } from './listen.ts';
import { type JobFeed, ProcessMetrics } from './process-metrics.ts';

/** See {@link startWorkerServer}. */
export interface WorkerServerOptions {
  readonly host: string;
  /** WORKER_PORT; 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  /** Whether the queue answers. May be slow or fail, which is no. */
  readonly queueAnswers: () => Promise<boolean>;
  readonly events: Events<SyncEvents>;
  readonly jobs: JobFeed;
  readonly logger: Logger;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
}

/** What a worker tells of itself, listening. */
export interface WorkerServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** Never rejects. */
  stop(): Promise<void>;
}

/** A queue that takes longer does not answer. */
const QUEUE_LIMIT_MS = 2_500;

/**
 * Starts what supervisors and Prometheus ask of a worker: `/live` (the process answers; a restart mends no more than that),
 * `/health` and `/ready` (its queue answers, so that it can take jobs) and `/metrics`. The page of the whole mirror is that of
 * `start`. Throws SETTINGS when it cannot listen there, with the remedy.
 */
export async function startWorkerServer(options: WorkerServerOptions): Promise<WorkerServer> {
  const { host, port, adminPassword, events, jobs, logger, version, clock } = options;
  if (adminPassword === undefined && !isLoopback(host)) {
    throw new MirrorError(
      'SETTINGS',
      `HOST ${host} lets other machines reach WORKER_PORT: set ADMIN_PASSWORD, or HOST=127.0.0.1.`,
    );
  }
  const app = fastify({
    logger: false,
    bodyLimit: 1_024,
    requestTimeout: 10_000,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
  });
  await guardAccess(app, { adminPassword, clock, logger });
  const metrics = new ProcessMetrics({
    events,
    version,
    role: 'worker',
    jobs,
  });
  const queueAnswers = async (): Promise<boolean> => {
    const answer = options.queueAnswers().catch(() => false);
    return (await withinTime(answer, QUEUE_LIMIT_MS, clock)) ?? false;
  };
  app.get('/live', async () => ({ ok: true }));
  for (const path of ['/health', '/ready']) {
    app.get(path, async (_request, reply) => {
      if (await queueAnswers()) return { ok: true };
      return reply.code(503).send({ ok: false, reason: 'The queue does not answer.' });
    });
  }
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text(await queueAnswers())),
  );
  app.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).send({
      error: 'A worker has /live, /health, /ready and /metrics; the page is that of start.',
    }),
  );
  const stop = async (): Promise<void> => {
    await app.close().catch(() => undefined);
    metrics.stop();
  };
  const what = 'What tells of this worker';
  try {
    return { url: await listen(app, { host, port, variable: 'WORKER_PORT', what }), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
