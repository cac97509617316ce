import { PROBLEMS } from '../base/catalogue.ts';
import type { Events } from '../base/events.ts';
import { span } from '../base/format.ts';
import type { Logger } from '../base/logger.ts';
import type { SyncEvents } from './events.ts';
import type { RunReport } from './run-form.ts';
import type { WriteBackReport } from './write-back.ts';

/* The log lines of runs, write-backs and waits for the source. */

/** Logs that this process waits for the source. A long wait is a warning, which every command prints. */
export function logWaits(events: Events<SyncEvents>, logger: Logger): void {
  events.on('forms.retry', (notice) => {
    logger[isLongWait(notice) ? 'warn' : 'debug'](notice, waitSentence(notice));
  });
}

/** Logs what runs do: at debug level if nothing changed, as a warning with code and remedy if a run did not succeed. */
export function logSync(events: Events<SyncEvents>, logger: Logger): void {
  const known = { notices: new Map<string, string>(), held: new Map<string, number>() };
  events.on('run.ended', (report) => {
    logRun(report, known.held, logger);
    logNotices(report, known.notices, logger);
  });
  events.on('write-back.ended', (report) => logWriteBack(report, logger));
}

const keyOf = ({ form, target }: RunReport): string => JSON.stringify([form.id, target]);

/** `held`: the number of held deletions logged last, because a run every minute finds the same ones. */
function logRun(report: RunReport, held: Map<string, number>, logger: Logger): void {
  const { form, target, outcome, accounted: total, inserted, updated, deleted, requests } = report;
  const about = { form: form.id, slug: form.slug, target };
  const ms = report.endedAtMs - report.startedAtMs;
  const counts = { inserted, updated, deleted, rejected: report.rejected, held: report.held };
  const fields = { ...about, outcome, total, ...counts, requests, ms };
  for (const reason of report.reasons) logger.warn(about, reason);
  if (outcome === 'ok') {
    const isIdle = inserted + updated + deleted === 0;
    held.delete(keyOf(report));
    logger[isIdle ? 'debug' : 'info'](fields, 'The run is complete.');
    return;
  }
  const isExpected = outcome === 'busy' || outcome === 'stopped' || outcome === 'paused';
  const isKnown = outcome === 'held' && held.get(keyOf(report)) === report.held;
  if (outcome === 'held') held.set(keyOf(report), report.held);
  const { code } = report;
  const remedy = code && PROBLEMS[code].remedy;
  logger[isKnown ? 'debug' : isExpected ? 'info' : 'warn'](
    { ...fields, code, ...(remedy === null ? {} : { remedy }) },
    report.error ?? `The run ended: ${outcome}.`,
  );
}

function logWriteBack(report: WriteBackReport, logger: Logger): void {
  const { form, outcome, written, adopted, refused, failed, failure } = report;
  const counts = { written, adopted, refused, failed };
  const fields = { form: form.id, slug: form.slug, outcome, ...counts };
  if (outcome === 'waiting') {
    logger.debug(fields, 'Write-back waits: a target has no copy yet, or another process has it.');
    return;
  }
  if (failure !== null) {
    const { code, message: error } = failure;
    const level = outcome === 'stopped' ? 'info' : 'warn';
    logger[level]({ ...fields, code, error }, 'Write-back is incomplete.');
    return;
  }
  logger[written + refused > 0 ? 'info' : 'debug'](fields, 'Write-back ended.');
}

/** Logs changes that people made to a target, once each, because runs end every minute. `known`: the last logged ones, by form and target. */
function logNotices(report: RunReport, known: Map<string, string>, logger: Logger): void {
  const { form, target, outcome, notices } = report;
  // A run that ended early did not look for them.
  if (outcome !== 'ok' && notices.length === 0) return;
  const text = JSON.stringify(notices);
  if ((known.get(keyOf(report)) ?? '[]') === text) return;
  known.set(keyOf(report), text);
  for (const { code, message, remedy } of notices) {
    const fields = { form: form.id, slug: form.slug, target, notice: code };
    logger.warn(fields, `${message} ${remedy}`);
  }
}

/** Shorter waits are not news, such as a request that succeeds at the first retry. */
const LONG_WAIT_MS = 1_000;

/** Whether a wait is worth a line. A response that did not come has already taken long. */
function isLongWait({ attempt, delayMs, reason }: SyncEvents['forms.retry']): boolean {
  return attempt > 1 || delayMs >= LONG_WAIT_MS || !reason.startsWith('answered');
}

/** `Waiting for the source (answered 503); tried again in 4 s.` */
function waitSentence({ reason, delayMs }: SyncEvents['forms.retry']): string {
  const when = delayMs < LONG_WAIT_MS ? 'in a moment' : `in ${span(delayMs)}`;
  return `Waiting for the source (${reason}); tried again ${when}.`;
}
