import type { App } from '../app.ts';
import { mistakeText } from '../base/errors.ts';
import type { OutcomeName } from '../mirror/form-state.ts';
import type { JobHandlers } from '../queue/runtime.ts';
import { type QueueRuntime, startQueue } from '../queue/runtime.ts';
import { upkeep } from '../sync/purge.ts';
import { Metrics } from '../web/metrics.ts';
import type { Host } from './host.ts';

/** Shared by `start` and `worker`: a process that works on the queue and counts its work. */
export interface Service extends AsyncDisposable {
  readonly queue: QueueRuntime;
  readonly metrics: Metrics;
}

/** Opens the queue and takes jobs until it is disposed. Rejects as the queue does. */
export async function openService(
  host: Host,
  app: App,
  role: 'start' | 'worker',
): Promise<Service> {
  const { config, events, clock, logger } = app;
  const metrics = new Metrics({ version: host.version, role });
  metrics.count(events);
  const queue = await startQueue({
    queueUrl: config.queueUrl,
    dataDir: config.dataDir,
    role,
    handlers: jobHandlers(app),
    schedule: config.schedule,
    targets: app.targetNames,
    writesBack: config.rule !== null,
    clock,
    logger,
    events,
  });
  return { queue, metrics, [Symbol.asyncDispose]: () => queue.stop() };
}

/** Outcomes of runs that did not do their work. */
const ENDED_EARLY: ReadonlySet<OutcomeName> = new Set(['failed', 'busy', 'stopped']);

/** The work of the queue's jobs. The app logs how runs and write-backs end. */
export function jobHandlers(app: App): JobHandlers {
  let warned = '';
  return {
    async poll(signal) {
      const plan = await app.plan(signal, { inTurn: true });
      const warnings = plan.unmatched.map(mistakeText);
      // Once, not with every poll: it does not change until a person changes the settings or the forms.
      if (warnings.join('\n') !== warned) for (const warning of warnings) app.logger.error(warning);
      warned = warnings.join('\n');
      return app.poll(plan.forms, signal);
    },

    async sync({ formId, target, ...options }, signal, onProgress) {
      const report = await app.run({ formId, target }, { ...options, onProgress }, signal);
      if (options.isComparison) {
        const opened = await app.target(target).catch(() => null);
        if (opened !== null) await upkeep(opened, report, app.config, signal);
      }
      const { outcome, failure } = report;
      if (ENDED_EARLY.has(outcome) && failure !== null) throw failure;
      return outcome;
    },

    async writeBack(formId, signal, isAwaited) {
      const report = await app.writeBack(formId, { waitMs: 0, signal }, isAwaited);
      if (report === undefined || report.failure === null) return;
      if (report.outcome === 'failed' || report.outcome === 'stopped') throw report.failure;
    },
  };
}
