import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import { count, duration, plural } from '../base/format.ts';
import { claimText, OUTCOME_TEXTS, oldestClaim, type ShownClaim } from '../health/report.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { RunSubject, SyncEvents } from '../sync/events.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { WriteBackReport } from '../sync/write-back.ts';
import type { Terminal } from './terminal.ts';

/*
 * How commands show runs and write-backs, as lines for people and as JSON.
 */

/** `contact → default`: the form and target of a run, for a line or a bar. */
export function runName({ form, target }: Pick<RunSubject, 'form' | 'target'>): string {
  return `${form.slug === '' ? form.id : form.slug} → ${target}`;
}

/** How often a long run reports how far it is. */
const LINE_EVERY_MS = 5_000;

/** Reports the runs of this process on stderr: when they start and end, and every few seconds. */
export function showProgress(terminal: Terminal, events: Events<SyncEvents>, clock: Clock): void {
  const printedAtMs = new Map<string, number>();
  const print = (subject: Pick<RunSubject, 'form' | 'target'>, text: string): void => {
    printedAtMs.set(runName(subject), clock.now());
    terminal.say(text);
  };
  events.on('run.started', (subject) => {
    const what = subject.isFull ? 'reading everything' : 'reading changes';
    print(subject, `${runName(subject)}: ${what}`);
  });
  events.on('run.progress', (progress) => {
    const { seen, total } = progress;
    if (clock.now() - (printedAtMs.get(runName(progress)) ?? 0) < LINE_EVERY_MS) return;
    print(progress, `${runName(progress)}: ${count(seen)} of ${count(total)}`);
  });
  events.on('run.ended', (report) => print(report, endedLine(report)));
}

/** The outcome of a run, its changes, and its cost. */
export function endedLine(report: RunReport): string {
  const changes = (
    [
      ['new', report.inserted],
      ['changed', report.updated],
      ['deleted', report.deleted],
      ['held', report.held],
      ['rejected', report.rejected],
    ] as const
  )
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `${count(number)} ${word}`);
  const isProven = report.outcome === 'ok' || report.outcome === 'held';
  const nothing = isProven ? 'nothing new' : 'nothing written';
  const what = changes.length > 0 ? changes.join(', ') : nothing;
  const cost = `${plural(report.requests, 'request')}, ${duration(lengthOf(report))}`;
  return `${runName(report)}: ${OUTCOME_TEXTS[report.outcome].text}; ${what} (${cost})`;
}

/** How long a run took, in milliseconds. */
export const lengthOf = ({ startedAtMs, endedAtMs }: RunReport): number =>
  Math.max(0, endedAtMs - startedAtMs);

const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();

/** The claim about the copy after a run. */
function shownClaim({ claim, held }: RunReport): ShownClaim {
  return {
    submissionsAsOf: isoOrNull(claim?.submissionsAsOfMs ?? null),
    statusesAsOf: isoOrNull(claim?.statusesAsOfMs ?? null),
    answersAsOf: isoOrNull(claim?.answersAsOfMs ?? null),
    held,
    undecided: Math.max(0, (claim?.except ?? 0) - held),
  };
}

/** A run as `sync --json` prints it. */
export function runDocument(report: RunReport): Record<string, unknown> {
  const { form, target, outcome, code, isWhole, accounted, error, reasons, notices } = report;
  const { inserted, updated, unchanged, deleted, held, rejected, requests } = report;
  return {
    form: form.id,
    slug: form.slug,
    target,
    outcome,
    code,
    full: isWhole,
    total: accounted,
    inserted,
    updated,
    unchanged,
    deleted,
    held,
    rejected,
    claim: shownClaim(report),
    requests,
    ms: lengthOf(report),
    error,
    reasons,
    notices,
  };
}

/** A write-back as `sync --json` prints it. */
export function writeBackDocument(report: WriteBackReport): Record<string, unknown> {
  const { form, outcome, written, adopted, refused, failed, failure } = report;
  const counts = { written, adopted, refused, failed };
  const { code = null, message: error = null } = failure ?? {};
  return { form: form.id, slug: form.slug, outcome, ...counts, code, error };
}

/** Prints runs as a table. */
export function printRuns(terminal: Terminal, runs: readonly RunReport[]): void {
  const titles = 'form target result rows new changed same deleted rejected requests time';
  const rows = runs.map((run) => [
    run.form.slug,
    run.target,
    OUTCOME_TEXTS[run.outcome].text,
    run.accounted,
    run.inserted,
    run.updated,
    run.unchanged,
    run.deleted,
    run.rejected,
    run.requests,
    duration(lengthOf(run)),
  ]);
  terminal.table(titles.split(' '), rows);
}

/**
 * What went wrong, and why runs read everything without an order from a person. Each error once, as a target that cannot be
 * reached fails every form with the same message.
 */
export function printErrors(terminal: Terminal, runs: readonly RunReport[]): void {
  const failed = runs.filter(({ error }) => error !== null);
  if (failed.length > 0) terminal.print('');
  for (const [error, group] of Map.groupBy(failed, (run) => run.error)) {
    const [first] = group;
    const who = first && group.length === 1 ? runName(first) : plural(group.length, 'run');
    terminal.tell('error', `${who}: ${error}`);
  }
  for (const run of runs)
    for (const reason of run.reasons) terminal.tell('warning', `${runName(run)}: ${reason}`);
}

/** Changes that people made in targets and that the mirror keeps, each with its remedy. */
export function printNotices(
  terminal: Terminal,
  about: string,
  notices: readonly TargetNotice[],
): void {
  for (const { message, remedy } of notices)
    terminal.tell('warning', `${about}: ${message}`, remedy);
}

/** A line for each form of which write-back did something. */
export function writeBackLines(reports: readonly WriteBackReport[]): string[] {
  const lines = reports.flatMap((report) => {
    const { form, outcome, written, refused, failed, failure } = report;
    const parts = [
      ...(written > 0 ? [`${plural(written, 'status', 'statuses')} changed`] : []),
      ...(refused > 0 ? [`${count(refused)} refused by the source`] : []),
      ...(failed > 0 ? [`${count(failed)} failed`] : []),
      ...(outcome === 'waiting' ? ['a target does not have it yet, or is busy'] : []),
      ...(failure === null ? [] : [failure.message.replace(/\.$/, '')]),
    ];
    return parts.length === 0 ? [] : [`Write-back of ${form.slug}: ${parts.join('; ')}.`];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

/** One line that sums up all runs. */
export function printSummary(
  terminal: Terminal,
  runs: readonly RunReport[],
  { dryRun, nowMs }: { readonly dryRun: boolean; readonly nowMs: number },
): void {
  if (runs.length === 0) return terminal.print('There was nothing to do: no form is mirrored.');
  const sum = (of: (run: RunReport) => number): number =>
    runs.reduce((total, run) => total + of(run), 0);
  const changes = [
    `${count(sum(({ inserted }) => inserted))} new`,
    `${count(sum(({ updated }) => updated))} changed`,
    `${count(sum(({ deleted }) => deleted))} deleted`,
  ].join(', ');
  const proven = runs.filter(({ outcome }) => outcome === 'ok').length;
  if (proven < runs.length) {
    const others = `${runs.length - proven} of ${plural(runs.length, 'run')}`;
    const written = dryRun ? `Nothing was written; it would be ${changes}` : changes;
    return terminal.tell('error', `${others} did not complete. ${written}.`);
  }
  if (dryRun) return terminal.tell('ok', `Nothing was written; it would be ${changes}.`);
  const all = runs.length === 1 ? 'The copy is' : `All ${count(runs.length)} copies are`;
  const claim = claimText(oldestClaim(runs.map(shownClaim)), nowMs);
  terminal.tell('ok', `${all} complete: ${claim}. ${changes}.`);
}
