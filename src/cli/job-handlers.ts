import type { App } from '../app.ts';
import { mistakeText } from '../base/errors.ts';
import type { JobHandlers } from '../queue/handlers.ts';

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

    isPlanned: (place, signal) => app.isPlanned(place, signal),

    async sync({ formId, target, ...options }, signal, onProgress) {
      const stopListening = app.events.on('run.progress', (progress) => {
        if (progress.form.id === formId && progress.target === target)
          onProgress(progress.seen, progress.total);
      });
      const report = await app.run({ formId, target }, options, signal).finally(stopListening);
      if (options.isComparison || options.isFull === true) await app.upkeep(report, signal);
      if (report.outcome === 'failed' && report.failure !== null) throw report.failure;
      return report.outcome;
    },

    async writeBack(formId, signal) {
      const report = await app.writeBack(formId, 0, signal);
      if (report?.outcome === 'failed' && report.failure !== null) throw report.failure;
    },
  };
}
