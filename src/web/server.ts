import { fastify, type FastifyInstance } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/transport.ts';
import type { SyncEvents } from '../sync/events.ts';
import { guardAccess } from './access.ts';
import type { Actor } from './action-order.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import { listen, type ListenPlace } from './listen.ts';
import { Metrics } from './metrics.ts';
import type { JobFeed } from './process-metrics.ts';
import type { JobBoard } from './queue-route.ts';
import { addRoutes } from './routes.ts';
import type { HealthSource } from '../health/facts.ts';
import { HealthMonitor } from '../health/monitor.ts';

/** Announces changes of health to people elsewhere. */
export interface Announcer {
  evaluate(health: MirrorHealth, isFresh: boolean): void;
  /** Why announcements are not delivered, as a sentence; null when they are. */
  readonly deliveryProblem: string | null;
  /** Sends a test message through every channel, and tells what became of it, without secrets (L15). May take a minute; never rejects. */
  test(): Promise<
    readonly { readonly channel: string; readonly ok: boolean; readonly message: string }[]
  >;
  /** Never rejects. */
  stop(): Promise<void>;
}

/** Where the status page listens. */
export const statusPlace = ({ host, port }: Pick<ListenPlace, 'host' | 'port'>): ListenPlace => ({
  host,
  port,
  variable: 'PORT',
  what: 'The status page',
});

/** See {@link startStatus}. */
export interface StatusOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  readonly source: HealthSource;
  readonly events: Events<SyncEvents>;
  /** The jobs of this process, for its metrics. */
  readonly jobs?: JobFeed | undefined;
  readonly logger: Logger;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  /** Sends alerts; stopped with the page. Undefined: nobody is alerted. */
  readonly alerts?: Announcer | undefined;
  /** Carries out what people ask for on the page; undefined: it only shows. */
  readonly actor?: Actor | undefined;
  /** Shows the jobs of the queue at `/queue`. */
  readonly board?: JobBoard | undefined;
}

/** A status page that is listening. */
export interface StatusServer {
  /** Where a browser on this machine finds it, without a slash at the end. */
  readonly url: string;
  /** Stops listening, monitoring and alerting; waits a moment for an alert under way. Never rejects; may be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts page, health, metrics and alerts. Throws SETTINGS when it cannot listen there, with the remedy; nothing is left
 * running then.
 */
export async function startStatus(options: StatusOptions): Promise<StatusServer> {
  const { host, port, adminPassword, source, events, logger, version, clock, alerts } = options;
  if (adminPassword === undefined && !isLoopback(host)) {
    throw new MirrorError(
      'SETTINGS',
      `HOST ${host} lets other machines reach the status page: set ADMIN_PASSWORD, or HOST=127.0.0.1.`,
    );
  }
  const app = createApp();
  await guardAccess(app, { adminPassword, clock, logger });
  const metrics = new Metrics({ events, version, jobs: options.jobs });
  const monitor = new HealthMonitor({
    source,
    events,
    clock,
    logger,
    onPass: (ended) => metrics.count(ended),
    onChange: (health, isFresh) => alerts?.evaluate(health, isFresh),
  });
  const deliveryProblem = (): string | null => alerts?.deliveryProblem ?? null;
  const { actor } = options;
  const hasPassword = adminPassword !== undefined;
  const shown = { monitor, metrics, source, board: options.board, version, clock, logger };
  const hasAlerts = alerts !== undefined;
  addRoutes(app, { ...shown, deliveryProblem, actor, hasPassword, hasAlerts });
  const stopAll = async (): Promise<void> => {
    await Promise.allSettled([app.close(), monitor.stop(), alerts?.stop()]);
    metrics.stop();
  };
  const url = await listen(app, statusPlace({ host, port })).catch(async (error: unknown) => {
    await stopAll();
    throw error;
  });
  monitor.start();
  let stopping: Promise<void> | undefined;
  return { url, stop: () => (stopping ??= stopAll()) };
}

function createApp(): FastifyInstance {
  return fastify({
    logger: false,
    // The pages take no input but their address.
    bodyLimit: 1_024,
    routerOptions: { maxParamLength: 1_000 },
    requestTimeout: 10_000,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
    // Anyone can send X-Forwarded-For.
    trustProxy: false,
  });
}
