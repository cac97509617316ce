import { type Clock, withinTime } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { openGuarded } from './access.ts';
import { listen } from './listen.ts';
import type { Metrics } from './metrics.ts';

/** See {@link startWorkerServer}. */
export interface WorkerServerOptions {
  readonly host: string;
  /** WORKER_PORT; 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  /** Whether the queue answers. To be slow or to reject counts as no. */
  readonly queueAnswers: () => Promise<boolean>;
  /** The caller counts in them. */
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** A worker's server, listening. */
export interface WorkerServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** Never rejects. */
  stop(): Promise<void>;
}

/** A queue that takes longer does not answer. */
const QUEUE_LIMIT_MS = 2_500;

/**
 * Starts the endpoints of a worker for supervisors and Prometheus: `/live` (the process answers; a restart helps
 * with nothing else), `/health` and `/ready` (its queue answers, so that it can take jobs) and `/metrics`. `start`
 * has the page of the whole mirror. Throws SETTINGS with the remedy if it cannot listen there.
 */
export async function startWorkerServer(options: WorkerServerOptions): Promise<WorkerServer> {
  const { host, port, metrics, clock } = options;
  const app = await openGuarded({ ...options, what: 'WORKER_PORT' });
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
      error: 'A worker has /live, /health, /ready and /metrics; start has the status page.',
    }),
  );
  const place = { host, port, variable: 'WORKER_PORT', what: 'The server of this worker' } as const;
  const url = await listen(app, place);
  return { url, stop: () => app.close().catch(() => undefined) };
}
