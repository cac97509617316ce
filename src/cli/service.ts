import type { App } from '../app.ts';
import { Events } from '../base/events.ts';
import { keepProcessRecord } from '../health/processes.ts';
import { SourceWaits } from '../health/source-waits.ts';
import { settingsTroubles, type Trouble } from '../health/trouble.ts';
import type { QueueEventMap } from '../queue/events.ts';
import { type QueueRuntime, startQueue } from '../queue/runtime.ts';
import { Metrics } from '../web/metrics.ts';
import type { Host } from './host.ts';
import { jobHandlers } from './job-handlers.ts';

/** What `start` and `worker` share: a process that works on the queue, counts its work, and keeps a record of itself. */
export interface Service extends AsyncDisposable {
  readonly queue: QueueRuntime;
  readonly metrics: Metrics;
  /** Of the settings, and that this process waits for the source. */
  troubles(): readonly Trouble[];
}

/** Opens the queue and takes jobs until it is disposed. Rejects as the queue does. */
export async function openService(
  host: Host,
  app: App,
  role: 'start' | 'worker',
): Promise<Service> {
  const { config, events, clock, logger, dataDir } = app;
  await using opened = new AsyncDisposableStack();
  const metrics = new Metrics({ version: host.version, role });
  const jobs = new Events<QueueEventMap>();
  const waits = new SourceWaits(events, clock);
  opened.defer(() => waits.stop());
  // These end with the app.
  events.on('run.ended', (report) => metrics.run(report));
  events.on('write-back.ended', (report) => metrics.writeBack(report));
  events.on('forms.sent', (sent) => metrics.sent(sent));
  events.on('forms.retry', (notice) => metrics.retried(notice));
  events.on('target.billed', (billed) => metrics.billed(billed));
  jobs.on('job.ended', (job) => metrics.job(job));
  jobs.on('job.recovered', () => metrics.jobRecovered());
  const queue = await startQueue({
    queueUrl: config.queueUrl,
    dataDir: config.dataDir,
    role: role === 'start' ? 'all' : 'worker',
    handlers: jobHandlers(app),
    schedule: config.schedule,
    targets: app.targetNames,
    writesBack: config.rule !== null,
    clock,
    logger,
    events: jobs,
  });
  opened.defer(() => queue.stop());
  const troubles = (): Trouble[] =>
    [settingsTroubles(app.planned?.unmatched ?? []), waits.trouble ?? []].flat();
  const record = await keepProcessRecord({
    dataDir,
    clock,
    role,
    troubles: async () => [(await queue.status()).trouble ?? [], troubles()].flat(),
    onError: (error) => logger.debug({ err: error }, 'DATA_DIR cannot be written.'),
  });
  opened.use(record);
  const rest = opened.move();
  return { queue, metrics, troubles, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}
