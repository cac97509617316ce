import type { App } from '../app.ts';
import { hasPassed, withinTime } from '../base/clock.ts';
import { mistakeText } from '../base/errors.ts';
import type { OutcomeName } from '../mirror/form-state.ts';
import type { JobHandlers } from '../queue/runtime.ts';
import { type QueueRuntime, startQueue } from '../queue/runtime.ts';
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

/** How long the runs that a poll found wait for the removal of old rows of forms without runs. */
const UPKEEP_MS = 20_000;

/** The work of the queue's jobs. The app logs how runs and write-backs end. */
export function jobHandlers(app: App): JobHandlers {
  const { clock, config } = app;
  let warned = '';
  let keptUpMs = -Infinity;
  return {
    async poll(signal) {
      const plan = await app.plan(signal, { inTurn: true });
      const warnings = plan.unmatched.map(mistakeText);
      // Once, not with every poll: it does not change until a person changes the settings or the forms.
      if (warnings.join('\n') !== warned) for (const warning of warnings) app.logger.error(warning);
      warned = warnings.join('\n');
      const found = await app.poll(plan.places, signal);
      if (hasPassed(keptUpMs, config.compareEveryMs, clock.now())) {
        keptUpMs = clock.now();
        const upkeep = app.upkeepWithoutRuns(app.targetNames, signal);
        // A slow target delays no other (L12).
        await withinTime(upkeep, UPKEEP_MS, clock);
      }
      return found;
    },

    async sync({ formId, target, ...options }, signal, onProgress) {
      const report = await app.run({ formId, target }, { ...options, onProgress }, signal);
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
