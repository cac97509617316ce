import type { App } from '../app.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { asLogged, type JobHandlers } from '../queue/handlers.ts';
import { ticksBetween } from '../settings/sync-settings.ts';
import { Comparisons } from '../sync/comparisons.ts';
import { planWarnings } from '../sync/planner.ts';

/** What the queue's jobs do with the app. */
export function jobHandlers(app: App, clock: Clock = systemClock): JobHandlers {
  let told = '';
  const { schedule } = app.config;
  const comparisons = new Comparisons({
    openTarget: (name) => app.target(name),
    rhythm: {
      withinMs: schedule.fullEveryMs,
      ticksBetween: (fromMs, toMs) => ticksBetween(schedule, fromMs, toMs),
    },
    clock,
    logger: app.logger,
  });
  return {
    async plan(signal, kind) {
      const plan = await app.plan(signal, { inTurn: kind !== 'full' });
      const warnings = planWarnings(plan);
      // Once, not with every plan: it stays as it is until a person changes the settings or the forms.
      if (warnings.join('\n') !== told) for (const warning of warnings) app.logger.error(warning);
      told = warnings.join('\n');
      if (kind === 'full') {
        return plan.forms.map(({ form, targets }) => ({ formId: form.id, targets }));
      }
      const { forms } = await app.look(plan.forms, signal);
      return forms.map(({ form, targets, visits, mark }) => {
        return { formId: form.id, targets, found: { passes: visits, mark } };
      });
    },
    comparisons: (underWay, signal) =>
      comparisons.due(app.planned.plan?.forms ?? [], underWay, signal),
    isPlanned: (place, signal) => app.isPlanned(place, signal),
    async pass(job, signal, onProgress) {
      const stopListening = app.events.on('pass.progress', ({ form, target, seen, total }) => {
        if (form.id === job.formId && target === job.target) onProgress?.({ seen, total });
      });
      const { acceptDeletes = false } = job;
      const report = await app.pass(job, signal, { acceptDeletes }).finally(stopListening);
      const { kind, outcome, failure } = report;
      if (kind !== 'incremental') await app.upkeep(report, signal);
      if (outcome === 'failed' && failure !== null) throw asLogged(failure);
      return outcome;
    },
    async mark({ formId }, signal) {
      const report = await app.mark(formId, signal);
      if (report === undefined || report.outcome === 'paused') return;
      if (report.failure !== null) throw asLogged(report.failure);
    },
  };
}
