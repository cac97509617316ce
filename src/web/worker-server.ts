import type { Logger } from '../base/logger.ts';
import { openGuarded } from './access.ts';
import { listen, type Listening } from './listen.ts';
import type { Metrics } from './metrics.ts';
import { addProbes, type Probed } from './probes.ts';

/** See {@link startWorkerServer}. */
export interface WorkerServerOptions {
  readonly host: string;
  /** WORKER_PORT; 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  /** The state of the queue. Never rejects. */
  readonly queue: Probed['queue'];
  /** The caller counts in them. */
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Starts the endpoints of a worker for supervisors and Prometheus: {@link addProbes} and `/metrics`. `start` has the page of the
 * whole mirror. Throws SETTINGS with the remedy if it cannot listen there.
 */
export async function startWorkerServer(options: WorkerServerOptions): Promise<Listening> {
  const { host, port, metrics, queue } = options;
  const app = await openGuarded({ ...options, what: 'WORKER_PORT' });
  addProbes(app, { queue });
  app.get('/metrics', async (_request, reply) => {
    const { isReachable } = await queue();
    return reply.type(metrics.contentType).send(await metrics.text(isReachable));
  });
  app.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).send({
      error: 'A worker has /live, /health, /ready and /metrics; start has the status page.',
    }),
  );
  const place = { host, port, variable: 'WORKER_PORT', what: 'The server of this worker' } as const;
  return listen(app, place);
}
