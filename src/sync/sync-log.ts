import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { PassReport, SyncEvents } from './events.ts';

/**
 * Writes what passes do into the log. A pass that found nothing to do is worth a line only to those who debug; one that
 * is not well is a warning. Returns a function that ends this.
 */
export function logSync(events: Events<SyncEvents>, logger: Logger): () => void {
  const stops = [
    events.on('pass.ended', (report) => logPass(report, logger)),
    events.on('columns.changed', ({ form, target, added, relabelled, removed }) => {
      const changes = { form: form.id, target, added, relabelled, removed };
      logger.info(changes, 'Columns follow the form.');
    }),
    events.on('forms.retry', (notice) => {
      logger.debug(notice, 'A request to the Forms API will be tried again.');
    }),
    events.on('mark.ended', ({ form, marked, refused, waiting }) => {
      const level = marked + refused > 0 ? 'info' : 'debug';
      logger[level]({ form: form.id, marked, refused, waiting }, 'Marking ended.');
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function logPass(report: PassReport, logger: Logger): void {
  const { form, target, kind, outcome, total, distinct, inserted, updated } = report;
  const { deleted, rejected, requests, ms, error } = report;
  const counts = { total, distinct, inserted, updated, deleted, rejected, requests, ms };
  const fields = { form: form.id, slug: form.slug, target, kind, outcome, ...counts };
  if (outcome !== 'ok') {
    const calm = outcome === 'busy' || outcome === 'cancelled';
    logger[calm ? 'info' : 'warn'](fields, error ?? `The pass ended: ${outcome}.`);
    return;
  }
  const idle = inserted + updated + deleted === 0;
  logger[idle ? 'debug' : 'info'](fields, 'The pass is complete.');
}
