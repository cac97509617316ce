import { once } from 'node:events';
import type { App } from '../app.ts';
import { Events } from '../base/events.ts';
import type { ExitCode } from '../base/exit-codes.ts';
import type { QueueEventMap } from '../queue/events.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import type { WorkerServer } from '../web/worker-server.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { jobFeed } from './job-feed.ts';
import { openApp, openQueue } from './open-app.ts';
import { recordThisProcess } from './process-record.ts';
import { requirePicks } from './selection.ts';

/** `worker`: takes jobs from the queue, and tells of itself at WORKER_PORT where that is set. */
export async function run({ host }: CommandCall): Promise<ExitCode> {
  const { signal } = host.stop;
  await using app = await openApp(host, { source: true, workerServer: true, logLevel: 'info' });
  await requirePicks(host, app);
  const events = new Events<QueueEventMap>();
  const queue = await openQueue(host, app, 'worker', events);
  try {
    await using _record = await recordThisProcess(app, host.clock, 'worker', queue);
    const server = await openServer(host, app, { queue, events });
    if (server !== undefined)
      app.logger.info({ url: server.url }, 'Health and metrics are at WORKER_PORT.');
    if (!signal.aborted) await once(signal, 'abort');
    await server?.stop();
  } finally {
    await queue.stop();
  }
  return 0;
}

/** Undefined where WORKER_PORT is not set; nothing of it is loaded then. */
async function openServer(
  host: Host,
  app: App,
  open: { readonly queue: QueueRuntime; readonly events: Events<QueueEventMap> },
): Promise<WorkerServer | undefined> {
  const { workerPort, status } = app.config;
  if (workerPort === undefined) return undefined;
  const { startWorkerServer } = await import('../web/worker-server.ts');
  return startWorkerServer({
    host: status.host,
    port: workerPort,
    adminPassword: status.password,
    queueAnswers: async () => (await open.queue.status()).reachable,
    events: app.events,
    jobs: jobFeed(open.events),
    logger: app.logger,
    version: host.version,
    clock: host.clock,
  });
}
