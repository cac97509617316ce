import { MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { accounted, sumOf } from '../mirror/form-state.ts';
import type { SettledForm } from '../sync/poll.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { FormIdentity, PassKind } from '../mirror/types.ts';
import type { MarkReport, PassReport, SyncEvents } from '../sync/events.ts';
import { NOTHING_DONE } from '../sync/unopened-pass.ts';
import { passRecordOf } from './overview.ts';

/*
 * Reports of the new core in the words that commands, logs and health have for them.
 */

/** `kind`: the kind of run that was requested. A run that read everything is reported as a full one. */
export function passReportOf(run: RunReport, kind: PassKind, passId: string): PassReport {
  const { form, target, reasons, notices, wasEmpty, failure, undecided } = run;
  return {
    ...passRecordOf(run),
    form,
    target,
    kind: run.isWhole ? 'full' : kind,
    passId,
    total: run.accounted,
    absent: undecided,
    undecided: 0,
    doubles: 0,
    reason: reasons.length === 0 ? null : reasons.join(' '),
    marked: 0,
    notices,
    ms: run.endedAtMs - run.startedAtMs,
    failure,
    wasEmpty,
  };
}

/** A form in which a poll found no change: reported as a run that found nothing new, without a request. */
export function settledReportOf(
  { target, stored, atMs, onStatuses }: SettledForm,
  passId: string,
  endedAtMs: number,
): PassReport {
  const { formId: id, slug, name, tally } = stored.state;
  return {
    form: { id, slug, name },
    target,
    kind: 'incremental',
    passId,
    startedAt: new Date(atMs).toISOString(),
    endedAt: new Date(endedAtMs).toISOString(),
    outcome: 'ok',
    ...NOTHING_DONE,
    total: sumOf(accounted(tally).values()),
    code: null,
    error: null,
    failure: null,
    notices: stored.notices,
    byLook: true,
    ...(!onStatuses && { isUncounted: true }),
  };
}

/** How the columns of a form followed its fields in a run, by label; null where they did not have to. */
export function columnsChanged({
  fields: { before, after },
}: RunReport): Omit<SyncEvents['columns.changed'], 'form' | 'target' | 'kind' | 'passId'> | null {
  const known = new Map(before.map((field) => [field.id, field]));
  const added: string[] = [];
  const relabelled: { from: string; to: string }[] = [];
  const removed: string[] = [];
  for (const { id, label, column, isInForm } of after) {
    const was = known.get(id);
    if (column !== null && (was?.column ?? null) === null) added.push(label);
    if (was === undefined) continue;
    if (was.label !== label) relabelled.push({ from: was.label, to: label });
    if (was.isInForm && !isInForm) removed.push(label);
  }
  return added.length + relabelled.length + removed.length === 0
    ? null
    : { added, relabelled, removed };
}

/** `to`: the status that was to be set; `remembered`: submissions that were not tried, as the source refused lately. */
export function markReportOf(
  report: WriteBackReport,
  { to, remembered }: { readonly to: string; readonly remembered: number },
): MarkReport {
  const { form, outcome, written: marked, adopted, refused, failed, unwritten } = report;
  const failure = failureOf(report, to);
  const isPart = marked > 0 && !report.isHopeless;
  const outcomes = {
    done: 'done',
    waiting: report.code === 'TARGET_BUSY' ? 'elsewhere' : 'done',
    paused: 'paused',
    failed: failure === null ? 'done' : isPart ? 'partial' : 'failed',
    stopped: 'cancelled',
  } as const;
  const counts = { marked, adopted, refused, failed, waiting: 0, remembered };
  const isTold = outcome !== 'waiting' && outcome !== 'paused';
  return {
    form,
    outcome: outcomes[outcome],
    ...counts,
    unmarked: unwritten,
    wouldMark: [],
    failure: isTold ? failure : null,
  };
}

/**
 * Why not every status was changed that could be; null when all were, or when the source refused single submissions and took
 * others.
 */
function failureOf(report: WriteBackReport, to: string): MirrorError | null {
  const { outcome, refused, failed, unwritten, failure, isHopeless, written } = report;
  if (outcome === 'done') return null;
  if (failure !== null) return failure;
  const [first] = unwritten;
  if (first === undefined || (failed === 0 && written > 0 && !isHopeless)) return null;
  const many = plural(refused + failed, 'submission');
  const others = isHopeless ? 'the others were not tried' : 'no other was held up';
  const begin = isHopeless ? 'Write-back stopped: ' : '';
  const what = `${begin}${many} could not be set to ${to}; ${others}.`;
  const code = failed > 0 ? 'FORMS_FAILED' : 'FORMS_REFUSED';
  const options = { retryable: false };
  return new MirrorError(code, `${what} The first: ${first.reason}`, options);
}

/** A write-back that could not begin. */
export function failedMarkReport(form: FormIdentity, failure: MirrorError): MarkReport {
  const nothing = { marked: 0, adopted: 0, refused: 0, failed: 0, waiting: 0, remembered: 0 };
  const outcome = failure.code === 'CANCELLED' ? 'cancelled' : 'failed';
  return { form, outcome, ...nothing, unmarked: [], wouldMark: [], failure };
}
