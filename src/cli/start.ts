import { once } from 'node:events';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { toMirrorError } from '../base/errors.ts';
import type { QueueRuntime } from '../queue/runtime.ts';
import { type StatusServer, startStatus } from '../status/server.ts';
import { requirePicks, requirePlan } from './chosen-plan.ts';
import type { CommandSpec } from './command-spec.ts';
import type { Host } from './host.ts';
import { openApp } from './session.ts';
import { statusSource } from './status-source.ts';
import { openQueue } from './worker.ts';

/** `start`: everything in one process. */
export const startCommand: CommandSpec = {
  name: 'start',
  summary: 'Keeps the copy up to date: scheduler, worker and status page in one process.',
  examples: ['forms-mirror start', 'SYNC_EVERY=30s forms-mirror start'],
  configure() {},
  async run({ host }) {
    const { signal } = host.stop;
    await using app = await openApp(host, { source: true, statusPage: true, logLevel: 'info' });
    await lookBeforeLeaping(host, app);
    if (signal.aborted) return 0;
    const queue = await openQueue(host, app, 'all');
    try {
      const page = await openPage(host, app, queue);
      app.logger.info({ url: page.url }, 'The status page is open.');
      if (!signal.aborted) await once(signal, 'abort');
      await page.stop();
    } finally {
      await queue.stop();
    }
    return 0;
  },
};

function openPage(host: Host, app: App, queue: QueueRuntime): Promise<StatusServer> {
  const { status, alertUrl, dataDir } = app.config;
  const memoryFile = join(dataDir, 'alerts.json');
  return startStatus({
    host: status.host,
    port: status.port,
    adminPassword: status.password,
    source: statusSource(app, queue),
    events: app.events,
    logger: app.logger,
    version: host.version,
    clock: host.clock,
    alerts: alertUrl === undefined ? undefined : { url: alertUrl, memoryFile },
  });
}

/** What a person has to set right is told before anything runs; a source that is away for the moment is waited for. */
async function lookBeforeLeaping(host: Host, app: App): Promise<void> {
  try {
    await requirePicks(
      host,
      app,
      app.config.targets.map(({ name }) => name),
    );
    const { forms } = await requirePlan(host, app);
    app.logger.info({ forms: forms.length }, 'The source answers; the mirror starts.');
  } catch (error) {
    const failure = toMirrorError(error);
    if (host.stop.signal.aborted) return;
    if (!failure.retryable) throw failure;
    app.logger.warn(
      { err: failure },
      'The source does not answer yet; the mirror starts all the same.',
    );
  }
}
