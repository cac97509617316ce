import { PROBLEMS } from '../base/catalogue.ts';
import type { Events } from '../base/events.ts';
import { duration } from '../base/format.ts';
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
  const known = new Map<string, string>();
  const isNews: IsNews = (what, { form, target }, text) => {
    const key = JSON.stringify([what, form.id, target]);
    const before = known.get(key) ?? '';
    known.set(key, text);
    return text !== before;
  };
  events.on('run.ended', (report) => {
    logRun(report, isNews, logger);
    logNotices(report, isNews, logger);
  });
  events.on('write-back.ended', (report) => logWriteBack(report, logger));
}

/** Whether the last report on this form and target had another text, because a run every minute finds the same. '' for nothing. */
type IsNews = (what: 'held' | 'notices', report: RunReport, text: string) => boolean;

function logRun(report: RunReport, isNews: IsNews, logger: Logger): void {
  const { form, target, outcome, accounted: total, inserted, updated, deleted, requests } = report;
  const about = { form: form.id, slug: form.slug, target };
  const ms = report.endedAtMs - report.startedAtMs;
  const counts = { inserted, updated, deleted, rejected: report.rejected, held: report.held };
  const fields = { ...about, outcome, total, ...counts, requests, ms };
  for (const reason of report.reasons) logger.warn(about, reason);
  if (outcome === 'ok') {
    const isIdle = inserted + updated + deleted === 0;
    isNews('held', report, '');
    logger[isIdle ? 'debug' : 'info'](fields, 'The run is complete.');
    return;
  }
  const isExpected = outcome === 'busy' || outcome === 'stopped' || outcome === 'paused';
  const isKnown = outcome === 'held' && !isNews('held', report, String(report.held));
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

/** Logs changes that people made to a target, once each. */
function logNotices(report: RunReport, isNews: IsNews, logger: Logger): void {
  const { form, target, outcome, notices } = report;
  // A run that ended early did not look for them.
  if (outcome !== 'ok' && notices.length === 0) return;
  if (!isNews('notices', report, notices.map(({ message }) => message).join('\n'))) return;
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

/** `Waiting for the source (answered 503); tried again in 4.0 s.` */
const waitSentence = ({ reason, delayMs }: SyncEvents['forms.retry']): string =>
  `Waiting for the source (${reason}); tried again in ${duration(delayMs)}.`;
