import { once } from 'node:events';
import { type App, mirrorWork } from '../app.ts';
import { Events } from '../base/events.ts';
import type { QueueEventMap } from '../queue/events.ts';
import { type QueueRuntime, startQueue } from '../queue/runtime.ts';
import { requirePicks } from './chosen-plan.ts';
import type { CommandSpec } from './command-spec.ts';
import type { Host } from './host.ts';
import { openApp } from './session.ts';

/** `worker`: takes jobs from the queue, and nothing else. */
export const workerCommand: CommandSpec = {
  name: 'worker',
  summary: 'Runs a worker alone, beside a start elsewhere; needs QUEUE_URL.',
  examples: ['QUEUE_URL=redis://redis.example.com:6379 forms-mirror worker'],
  configure() {},
  async run({ host }) {
    const { signal } = host.stop;
    await using app = await openApp(host, { source: true, logLevel: 'info' });
    await requirePicks(
      host,
      app,
      app.config.targets.map(({ name }) => name),
    );
    const queue = await openQueue(host, app, 'worker');
    if (!signal.aborted) await once(signal, 'abort');
    await queue.stop();
    return 0;
  },
};

/** How many forms of a target are at work at one time. */
const PASSES_PER_TARGET = 2;

/** Starts working on the queue, as the settings say. */
export function openQueue(
  host: Host,
  app: App,
  role: 'all' | 'worker',
  events: Events<QueueEventMap> = new Events(),
): Promise<QueueRuntime> {
  const { config, logger } = app;
  return startQueue({
    queueUrl: config.queueUrl,
    dataDir: config.dataDir,
    role,
    work: mirrorWork(app),
    schedules: {
      incremental: config.schedule.incremental,
      full: { everyMs: config.schedule.fullEveryMs },
      marking: config.marking !== undefined,
      targets: config.targets.map(({ name }) => name),
    },
    concurrency: PASSES_PER_TARGET,
    clock: host.clock,
    logger,
    events,
  });
}
