import type { FastifyInstance } from 'fastify';
import type { Logger } from '../base/logger.ts';
import type { Watch } from '../health/collect.ts';
import type { QueueState } from '../health/report.ts';
import { openGuarded } from './access.ts';
import { listen, type Listening, type ListenPlace } from './listen.ts';
import type { Metrics } from './metrics.ts';

/** The reports of a mirror. */
export type Reports = Pick<Watch, 'refresh' | 'current' | 'hasRead' | 'expire'>;

/** See {@link startServer}. */
export interface ServerOptions {
  readonly place: ListenPlace;
  /** ADMIN_PASSWORD; undefined: no password, for loopback addresses only. */
  readonly adminPassword: string | undefined;
  readonly logger: Logger;
  /** The state of the queue, without which the process can do nothing. Never rejects. */
  readonly queue: () => Promise<Pick<QueueState, 'isReachable' | 'trouble'>>;
  /** The caller counts in them, and they outlive the server. */
  readonly metrics: Metrics;
  /** Only for `start`. */
  readonly reports?: Reports;
}

/**
 * Starts the server with the routes for supervisors and Prometheus, and `addRoutes`. Throws SETTINGS with the remedy if it cannot
 * listen.
 *
 * `/live`: whether this process answers; a restart helps only if it does not. `/health`: whether it can do its work. `/ready`: whether it
 * has also read the targets. `ok` is about this process; `mirror` is the state of the copy, which a restart does not change.
 */
export async function startServer(
  options: ServerOptions,
  addRoutes: (app: FastifyInstance) => void,
): Promise<Listening> {
  const { place, queue, metrics, reports } = options;
  const app = await openGuarded(options);
  app.get('/live', async () => ({ ok: true }));
  for (const path of ['/health', '/ready'])
    app.get(path, async (_request, reply) => {
      const isStarting = path === '/ready' && reports?.hasRead === false;
      const reason = isStarting ? 'Starting.' : (await queue()).trouble?.message;
      const ok = reason === undefined;
      return reply.code(ok ? 200 : 503).send({ ok, reason, mirror: reports?.current().state });
    });
  app.get('/metrics', async (_request, reply) => {
    const report = await reports?.refresh();
    const { isReachable } = await queue();
    return reply.type(metrics.registry.contentType).send(await metrics.text(isReachable, report));
  });
  addRoutes(app);
  return listen(app, place);
}
