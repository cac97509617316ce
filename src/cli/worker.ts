import { once } from 'node:events';
import type { App } from '../app.ts';
import type { Listening } from '../web/server.ts';
import { openApp } from './open-app.ts';
import { openService, type Service } from './service.ts';
import type { CommandCall, ExitCode } from './host.ts';

/** `worker`: takes jobs from the queue, and answers probes at WORKER_PORT if that is set. */
export async function worker({ host }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, {
    source: true,
    fields: true,
    serves: 'WORKER_PORT',
    logLevel: 'info',
  });
  await using service = await openService(host, app, 'worker');
  const server = await openServer(app, service);
  if (server !== undefined)
    app.logger.info({ url: server.url }, 'Health and metrics are at WORKER_PORT.');
  if (!signal.aborted) await once(signal, 'abort');
  await server?.stop();
  return 0;
}

/** Undefined without WORKER_PORT; then none of its code is loaded. */
async function openServer(
  { config, logger }: App,
  { queue, metrics }: Service,
): Promise<Listening | undefined> {
  const { workerPort: port, host, adminPassword } = config;
  if (port === undefined) return undefined;
  const { startServer } = await import('../web/server.ts');
  const place = { host, port, variable: 'WORKER_PORT' } as const;
  const options = { place, adminPassword, logger, queue: () => queue.status(), metrics };
  return startServer(options);
}
