import type { ProblemCode } from '../base/catalogue.ts';
import type { Events } from '../base/events.ts';
import { plural, span } from '../base/format.ts';
import type { Logger } from '../base/logger.ts';
import type { RateNotice } from '../forms/pacing.ts';
import { isOfSettings, knownLosses } from '../mirror/losses.ts';
import type { MarkReport, PassReport, SyncEvents } from './events.ts';

/** What to do about a code, where the message does not say it. */
export type RemedyOf = (code: ProblemCode) => string | null;

/**
 * Logs what passes do: at debug level when nothing changed, as a warning when a pass did not succeed, with its code and
 * the remedy. Waiting for the source is no failure, and is told at info level.
 */
export function logSync(events: Events<SyncEvents>, logger: Logger, remedyOf: RemedyOf): void {
  const noticed = new Map<string, string>();
  events.on('pass.ended', (report) => {
    logPass(report, logger, remedyOf);
    logNotices(report, noticed, logger);
  });
  events.on('pass.widened', ({ form, target, reason, losses }) => {
    const level = isOfSettings(knownLosses(losses)) ? 'info' : 'warn';
    logger[level]({ form: form.id, slug: form.slug, target }, reason);
  });
  events.on('columns.changed', ({ form, target, added, relabelled, removed }) => {
    logger.info({ form: form.id, target, added, relabelled, removed }, 'Columns follow the form.');
  });
  events.on('forms.silent', (notice) => {
    const { silentMs } = notice;
    logger.info(notice, `Waiting on the source (no answer for ${span(silentMs)}).`);
  });
  events.on('forms.retry', (notice) => {
    logger[isLongWait(notice) ? 'info' : 'debug'](notice, waitSentence(notice));
  });
  events.on('forms.rate', (notice) => {
    logger[notice.what === 'refused' ? 'warn' : 'info'](notice, rateSentence(notice));
  });
  events.on('mark.ended', (report) => logMarking(report, logger));
}

function logPass(report: PassReport, logger: Logger, remedyOf: RemedyOf): void {
  const { form, target, kind, outcome, total, distinct, inserted, updated } = report;
  const { deleted, rejected, absent, undecided, doubles, requests, ms, code, error } = report;
  const found = {
    deleted,
    rejected,
    ...(absent > 0 ? { absent } : {}),
    ...(undecided > 0 ? { undecided } : {}),
    ...(doubles > 0 ? { doubles } : {}),
  };
  const counts = { total, distinct, inserted, updated, ...found, requests, ms };
  const fields = { form: form.id, slug: form.slug, target, kind, outcome, ...counts };
  const idle = inserted + updated + deleted === 0;
  if (outcome !== 'ok') {
    const expected = outcome === 'busy' || outcome === 'cancelled' || outcome === 'paused';
    // The full pass that withheld deletions has warned; those after it, each minute, find them still withheld.
    const isTold = outcome === 'withheld' && kind === 'incremental';
    const quiet = isTold && idle ? 'debug' : 'info';
    const remedy = code === null ? null : remedyOf(code);
    const why = { code, ...(remedy === null ? {} : { remedy }) };
    logger[expected || isTold ? quiet : 'warn'](
      { ...fields, ...why },
      error ?? `The pass ended: ${outcome}.`,
    );
    return;
  }
  const text =
    absent === 0
      ? 'The pass is complete.'
      : 'The pass ended well except for deletions that the next passes look for.';
  logger[idle ? 'debug' : 'info'](fields, text);
}

function logMarking(report: MarkReport, logger: Logger): void {
  const { form, outcome, marked, adopted, refused, failed, waiting, remembered } = report;
  const { unmarked, failure } = report;
  const counts = { marked, adopted, refused, failed, waiting, remembered };
  const fields = { form: form.id, slug: form.slug, outcome, ...counts };
  if (failure !== null) {
    const level = outcome === 'cancelled' ? 'info' : 'warn';
    const { code, message } = failure;
    logger[level]({ ...fields, code, error: message, unmarked }, 'Marking did not mark all.');
    return;
  }
  const text = outcome === 'elsewhere' ? 'Another process is marking this form.' : 'Marking ended.';
  logger[marked + refused > 0 ? 'info' : 'debug'](fields, text);
}

/** Says what people did to a target when it is news: passes end each minute. `noticed`: what was said last, by form and target. */
function logNotices(
  { form, target, outcome, notices }: PassReport,
  noticed: Map<string, string>,
  logger: Logger,
): void {
  // A pass that did not come to look knows nothing of them.
  if (outcome !== 'ok' && notices.length === 0) return;
  const key = JSON.stringify([form.id, target]);
  const text = JSON.stringify(notices);
  if ((noticed.get(key) ?? '[]') === text) return;
  noticed.set(key, text);
  for (const { code, tab, rows, columns, message, remedy } of notices) {
    const fields = { form: form.id, slug: form.slug, target, notice: code, tab, rows, columns };
    logger.warn(fields, `${message} ${remedy}`);
  }
}

/** Shorter waits are no news: a request that succeeds with its first repetition. */
const LONG_WAIT_MS = 1_000;

/** Whether a wait is worth a line. An answer that stayed away has taken long already. */
export function isLongWait({ attempt, delayMs, reason }: SyncEvents['forms.retry']): boolean {
  return attempt > 1 || delayMs >= LONG_WAIT_MS || !reason.startsWith('answered');
}

/** `Waiting on the source (answered 503); tried again in 4 s.` */
export function waitSentence({ reason, delayMs }: SyncEvents['forms.retry']): string {
  const when = delayMs < LONG_WAIT_MS ? 'in a moment' : `in ${span(delayMs)}`;
  return `Waiting on the source (${reason}); tried again ${when}.`;
}

/** `The source answers 429 (too many requests): at most 120 requests a minute are sent from now on, …` */
export function rateSentence({ what, perMinute, waitMs }: RateNotice): string {
  const allowed = perMinute === null ? '' : `${plural(Math.floor(perMinute), 'request')} a minute`;
  switch (what) {
    case 'turn':
      return `A request waits ${span(waitMs)} for its turn: ${allowed} may be sent.`;
    case 'refused':
      return `The source answers 429 (too many requests): this process sends at most ${allowed} from now on, and more, step by step, while it takes them.`;
  }
}
