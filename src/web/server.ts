import type { FastifyInstance } from 'fastify';
import { PROBLEMS } from '../base/catalogue.ts';
import { errorCode, MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { plainHost } from '../base/transport.ts';
import type { Watch } from '../health/collect.ts';
import type { QueueState } from '../health/report.ts';
import { openGuarded } from './access.ts';
import type { Metrics } from './metrics.ts';

/** The reports of a mirror. */
export type Reports = Pick<Watch, 'refresh' | 'current' | 'hasRead' | 'expire'>;

/** Where to listen. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The setting of `port`. Default: PORT. */
  readonly variable?: 'PORT' | 'WORKER_PORT';
}

/** A server that is listening. */
export interface Listening {
  /** Its URL in a browser on this machine, without a slash at the end. */
  readonly url: string;
  /** Never rejects; may be called twice. */
  stop(): Promise<void>;
}

/** See {@link startServer}. */
export interface ServerOptions {
  readonly place: ListenPlace;
  /** ADMIN_PASSWORD; undefined: no password, for loopback addresses only. */
  readonly adminPassword: string | undefined;
  readonly logger: Logger;
  /** The state of the queue, without which the process can do nothing. Never rejects. */
  readonly queue: () => Promise<Pick<QueueState, 'isReachable' | 'problem'>>;
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
  addRoutes?: (app: FastifyInstance) => void,
): Promise<Listening> {
  const { place, queue, metrics, reports } = options;
  const app = await openGuarded(options);
  app.get('/live', async () => ({ ok: true }));
  for (const path of ['/health', '/ready'])
    app.get(path, async (_request, reply) => {
      const isStarting = path === '/ready' && reports?.hasRead === false;
      const problem = isStarting ? null : (await queue()).problem;
      // These routes need no password. A message names places.
      const title = isStarting ? 'Starting' : problem && PROBLEMS[problem.code].title;
      const reason = title === null ? undefined : `${title}.`;
      const ok = reason === undefined;
      return reply.code(ok ? 200 : 503).send({ ok, reason, mirror: reports?.current().state });
    });
  app.get('/metrics', async (_request, reply) => {
    const report = await reports?.refresh();
    const { isReachable } = await queue();
    return reply.type(metrics.registry.contentType).send(await metrics.text(isReachable, report));
  });
  addRoutes?.(app);
  return listen(app, place);
}

/** Listens. Rejects with SETTINGS and the remedy if it cannot. */
async function listen(app: FastifyInstance, place: ListenPlace): Promise<Listening> {
  const host = plainHost(place.host);
  await app.listen({ host, port: place.port }).catch((error: unknown) => {
    throw cannotListen(error, place);
  });
  const [address] = app.addresses();
  const port = typeof address === 'object' ? address.port : 0;
  // An address that listens everywhere can be reached by a loopback one.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  return { url, stop: () => app.close().catch(() => undefined) };
}

function cannotListen(error: unknown, place: ListenPlace): MirrorError {
  const { host, port, variable = 'PORT' } = place;
  const code = errorCode(error) ?? 'no code';
  const message =
    code === 'EADDRINUSE'
      ? `Another program uses ${variable} ${port} of HOST ${host}, perhaps another forms-mirror. Stop it, or set another ${variable}.`
      : `HOST ${host} with ${variable} ${port} does not open (${code}). HOST has to be an address of this machine, such as 127.0.0.1, and ${variable} 1024 or more.`;
  return new MirrorError('SETTINGS', message, { cause: error });
}
