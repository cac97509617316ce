import { type FastifyInstance, fastify } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/loopback.ts';
import type { SyncEvents } from '../sync/events.ts';
import { Access } from './access.ts';
import { type AlertSettings, Alerts } from './alerts.ts';
import { guardRequests } from './guards.ts';
import { listenError } from './listen-error.ts';
import { Metrics } from './metrics.ts';
import { addRoutes } from './routes.ts';
import type { StatusSource } from './source.ts';
import { Watch } from './watch.ts';

/** What {@link startStatus} needs. */
export interface StatusOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  readonly source: StatusSource;
  readonly events: Events<SyncEvents>;
  readonly logger: Logger;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  /** Where alerts go; undefined: nowhere. */
  readonly alerts?: AlertSettings | undefined;
}

/** A status page that listens. */
export interface StatusServer {
  /** Where a browser on this machine finds it, without a slash at the end. */
  readonly url: string;
  /** Ends listening, looking and alerting; waits a moment for an alert on its way. Never rejects; may be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts page, health, metrics and alerts. Throws SETTINGS when it cannot listen there, with the remedy; nothing is left
 * running then.
 */
export async function startStatus(options: StatusOptions): Promise<StatusServer> {
  const { host, port, adminPassword, source, events, logger, version, clock, alerts: to } = options;
  if (adminPassword === undefined && !isLoopback(host)) {
    throw new MirrorError(
      'SETTINGS',
      `HOST ${host} lets other machines reach the status page: set ADMIN_PASSWORD, or HOST=127.0.0.1.`,
    );
  }
  const alerts = to === undefined ? undefined : await Alerts.open({ ...to, clock, logger });
  const metrics = new Metrics(events, version);
  const watch = new Watch({
    source,
    events,
    clock,
    logger,
    onPass: (told) => metrics.count(told),
    onChange: (view) => alerts?.consider(view),
  });
  const app = createApp();
  guardRequests(app, { access: new Access(adminPassword, clock), adminPassword, clock, logger });
  const alertTrouble = (): string | null => alerts?.trouble ?? null;
  addRoutes(app, { watch, metrics, source, version, clock, logger, alertTrouble });
  const stopAll = async (): Promise<void> => {
    await Promise.allSettled([app.close(), watch.stop(), alerts?.stop()]);
    metrics.stop();
  };
  try {
    await app.listen({ host: withoutBrackets(host), port });
  } catch (error) {
    await stopAll();
    throw listenError(host, port, error);
  }
  watch.start();
  let stopping: Promise<void> | undefined;
  return { url: addressOf(app, host), stop: () => (stopping ??= stopAll()) };
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
  });
}

/** An address that listens everywhere is reached by a loopback one. */
function addressOf(app: FastifyInstance, host: string): string {
  const [address] = app.addresses();
  const port = typeof address === 'object' ? address.port : 0;
  const everywhere = host === '0.0.0.0' || host === '::' || host === '[::]';
  const name = everywhere ? 'localhost' : withoutBrackets(host);
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** `[::1]`, as an address in a URL is written, is `::1` to a socket. */
const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
