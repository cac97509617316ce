import { type FastifyInstance, fastify } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/error-code.ts';
import { MirrorError } from '../base/errors.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import { isLoopback } from '../base/loopback.ts';
import type { SyncEvents } from '../sync/events.ts';
import { guardAccess } from './access.ts';
import type { MirrorHealth } from '../health/mirror-health.ts';
import { Metrics } from './metrics.ts';
import type { JobBoard } from './queue-route.ts';
import { addRoutes } from './routes.ts';
import type { HealthSource } from '../health/facts.ts';
import { HealthMonitor } from '../health/monitor.ts';

/** Announces changes of health to people elsewhere. */
export interface Announcer {
  evaluate(health: MirrorHealth, isFresh: boolean): void;
  /** Why announcements are not delivered, as a sentence; null when they are. */
  readonly deliveryProblem: string | null;
  /** Never rejects. */
  stop(): Promise<void>;
}

/** See {@link startStatus}. */
export interface StatusOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** ADMIN_PASSWORD; undefined: open, which is for loopback addresses only. */
  readonly adminPassword: string | undefined;
  /** TRUST_PROXY: addresses and networks whose X-Forwarded-For is believed; absent or empty: nobody's. */
  readonly trustedProxies?: readonly string[];
  readonly source: HealthSource;
  readonly events: Events<SyncEvents>;
  readonly logger: Logger;
  /** Of the program. */
  readonly version: string;
  readonly clock: Clock;
  /** Sends alerts; stopped with the page. Undefined: nobody is alerted. */
  readonly alerts?: Announcer | undefined;
  /** Shows the jobs of the queue at `/queue`. */
  readonly board?: JobBoard | undefined;
  /** The pages link to what an admin can have done; default false. */
  readonly actions?: boolean;
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
  const app = createApp(options.trustedProxies ?? []);
  await guardAccess(app, { adminPassword, clock, logger });
  const metrics = new Metrics(events, version);
  const monitor = new HealthMonitor({
    source,
    events,
    clock,
    logger,
    onPass: (ended) => metrics.count(ended),
    onChange: (health, isFresh) => alerts?.evaluate(health, isFresh),
  });
  const deliveryProblem = (): string | null => alerts?.deliveryProblem ?? null;
  const { actions = false, board } = options;
  const shown = { monitor, metrics, source, board, actions };
  addRoutes(app, { ...shown, version, clock, logger, deliveryProblem });
  const stopAll = async (): Promise<void> => {
    await Promise.allSettled([app.close(), monitor.stop(), alerts?.stop()]);
    metrics.stop();
  };
  try {
    await app.listen({ host: withoutBrackets(host), port });
  } catch (error) {
    await stopAll();
    throw listenError(host, port, error);
  }
  monitor.start();
  let stopping: Promise<void> | undefined;
  return { url: addressOf(app, host), stop: () => (stopping ??= stopAll()) };
}

function createApp(trustedProxies: readonly string[]): FastifyInstance {
  return fastify({
    logger: false,
    // The pages take no input but their address.
    bodyLimit: 1_024,
    routerOptions: { maxParamLength: 1_000 },
    requestTimeout: 10_000,
    keepAliveTimeout: 15_000,
    forceCloseConnections: true,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
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

/** Why the status page cannot listen at `host` and `port`, with what to set instead. Code SETTINGS. */
function listenError(host: string, port: number, error: unknown): MirrorError {
  const code = errorCode(error);
  const message = `The status page cannot listen: ${reasonOf(code, host, port)}`;
  return new MirrorError('SETTINGS', message, { cause: error });
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  const place = `PORT ${port} of HOST ${host}`;
  if (code === 'EADDRINUSE') {
    const other = port < 65_535 ? port + 1 : 8_080;
    return `${place} is taken by another program, maybe another forms-mirror. Stop that one, or choose another port: PORT=${other}`;
  }
  if (code === 'EACCES') {
    return `${place} may not be opened by this user. Choose a port from 1024 on: PORT=8080`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `HOST ${host} is no address of this machine. Set HOST=127.0.0.1 for this machine alone, HOST=0.0.0.0 for all that can reach it`;
  }
  return `${place} does not open${code === undefined ? '' : ` (${code})`}. Set HOST and PORT to what is free, for example HOST=127.0.0.1 PORT=8081`;
}
