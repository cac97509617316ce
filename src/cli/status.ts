import { EXIT_CODES, type ExitCode } from '../base/exit-codes.ts';
import { ago, plural, soon, span } from '../base/format.ts';
import { exceptText } from '../health/coverage.ts';
import type { FormInTarget } from '../health/facts.ts';
import { assessRecorded, readRecorded } from '../health/recorded-health.ts';
import { headline } from '../health/headline.ts';
import {
  type FormReport,
  type ShownProblem,
  type StatusReport,
  type TargetReport,
  absentNote,
  countText,
  isKnown,
  knowsAll,
  lastPassText,
  missingTime,
  reportOf,
} from '../health/report.ts';
import type { HealthState } from '../mirror/health-text.ts';
import { pauseText } from '../mirror/pauses.ts';
import { nextRunMs } from '../settings/sync-settings.ts';
import { stillSet } from '../sync/unmatched-names.ts';
import type { CommandCall } from './command-spec.ts';
import { openApp } from './open-app.ts';
import { noticeLines } from './pass-report.ts';
import { readProcesses } from './process-record.ts';
import type { Terminal } from './terminal.ts';
import { textTable } from './text-table.ts';

/** `status`: the health of the copy, judged by what the targets record. */
export async function run({ host, flag }: CommandCall): Promise<ExitCode> {
  const { terminal, clock, stop, version } = host;
  await using app = await openApp(host);
  const targets = await Promise.all(
    app.config.targets.map(({ name }) => {
      const read = async () => app.overview(name);
      return readRecorded(name, read, clock);
    }),
  );
  const nextRun = (afterMs: number): number => nextRunMs(app.config.schedule, afterMs);
  const found = await app.failures.read();
  const kept = { ...found, unmatched: stillSet(found.unmatched, app.config.targets) };
  const isChosen = ({ form, target }: FormInTarget): boolean => app.isChosen(target, form);
  const processes = await readProcesses(app, clock.now());
  const { fullEveryMs } = app.config.schedule;
  const health = assessRecorded(targets, {
    nowMs: clock.now(),
    nextRunMs: nextRun,
    fullEveryMs,
    kept,
    isChosen,
    processes,
    dataDir: await app.failures.problem(),
  });
  const report = reportOf(health, version);
  if (flag('json')) terminal.printJson(report);
  else printStatus(terminal, report);
  return stop.exitCode() ?? (isKnownWell(report) ? EXIT_CODES.DONE.code : EXIT_CODES.FAILED.code);
}

/**
 * Whether every form has been copied and its proof is within its time, with nothing that keeps the next one waiting. What
 * needs a person's attention doesn't count, and neither does that no process runs: `sync` may be run by a timer.
 */
function isKnownWell({ problems, targets, forms }: StatusReport): boolean {
  const isHeldUp = problems.some(({ code, level }) => level === 'error' || code !== 'NOT_RUNNING');
  if (isHeldUp || targets.some(({ problem }) => problem !== null)) return false;
  const mirrored = forms.filter(({ state }) => state !== 'ended');
  if (forms.length === 0) return false;
  return mirrored.every(
    ({ state, provenAt, overdueSince, goneAt }) =>
      state !== 'failed' && (goneAt !== null || (provenAt !== null && overdueSince === null)),
  );
}

/** The targets, a table of forms, and what is wrong, with the remedy. */
function printStatus(terminal: Terminal, report: StatusReport): void {
  const { problems, targets, forms } = report;
  const nowMs = Date.parse(report.at);
  terminal.print(`${signOf(terminal, report.state)} ${headline(report)}`);
  for (const target of targets) printTarget(terminal, target, nowMs);
  if (forms.length === 0) {
    terminal.print(
      '',
      knowsAll(targets)
        ? 'Nothing has been mirrored yet. To begin: forms-mirror sync --full'
        : 'What has been mirrored is not known, as not every target could be read.',
    );
    return;
  }
  terminal.print('');
  printForms(terminal, forms, nowMs);
  for (const { name } of targets.filter((target) => !isKnown(target))) {
    const known = 'the table shows only forms of it that a failure is known of here';
    terminal.print(`· ${name}: what it holds could not be read, so ${known}`);
  }
  for (const problem of problems) printProblem(terminal, '', problem, nowMs);
  for (const report of forms) {
    const about = `${report.form.slug} → ${report.target}`;
    // That of the target stands above.
    if (report.pause?.ofTarget === false) printPause(terminal, about, report.pause);
    for (const problem of report.problems) {
      if (!problem.inhibited) printProblem(terminal, `${about}: `, problem, nowMs);
    }
    const note = absentNote(report, nowMs);
    if (note !== null) terminal.print(`· ${about}: ${note}`);
    if ((report.forgotten ?? 0) > 0) {
      const forgotten = plural(report.forgotten ?? 0, 'submission');
      terminal.print(`· ${about}: ${forgotten} forgotten on request, and kept away`);
    }
    for (const line of noticeLines(terminal, about, report.notices)) terminal.print(line);
  }
}

function signOf(terminal: Terminal, state: HealthState): string {
  if (state === 'ok') return terminal.style('green', '✓');
  if (state === 'failed') return terminal.style('red', '✗');
  return state === 'attention' ? terminal.style('yellow', '!') : '·';
}

function printTarget(
  terminal: Terminal,
  { name, address, readable, pause, problem }: TargetReport,
  nowMs: number,
): void {
  if (readable) terminal.print(`${name}: ${address}`);
  if (pause !== null) printPause(terminal, name, pause);
  if (problem !== null) printProblem(terminal, `${name}: `, problem, nowMs);
}

/** `· contact → default: paused since … by …`, and below it how to go on. */
function printPause(
  terminal: Terminal,
  subject: string,
  { command, ...pause }: NonNullable<FormReport['pause']>,
): void {
  terminal.print(`· ${subject}: ${pauseText(pause)}`, `    → To go on: ${command}`);
}

function printForms(terminal: Terminal, forms: readonly FormReport[], nowMs: number): void {
  const titles = [
    'form',
    'target',
    'state',
    'rows',
    'deleted',
    'rejected',
    'last pass',
    'submissions as of',
    'statuses as of',
    'answers as of',
    'next',
  ];
  const columns = titles.map((title, at) => ({
    title,
    align: at > 2 && at < 6 ? ('right' as const) : ('left' as const),
  }));
  const rows = forms.map((form) => [
    form.form.slug,
    form.target,
    stateText(form, nowMs),
    ...[form.rows, form.deletedRows, form.rejected].map(countText),
    endedText(form, nowMs),
    membershipText(form, nowMs),
    ago(form.covers.statuses, nowMs, missingTime(form)),
    ago(form.covers.answers, nowMs, missingTime(form)),
    nextRunText(form, nowMs),
  ]);
  const head = (line: string): string => terminal.style('bold', line);
  for (const line of textTable(columns, rows, { maxCell: 44, head })) terminal.print(line);
}

/** `✗ contact → default: The last pass failed (TARGET_FULL) for 3 h: …`, and below it what to do. */
function printProblem(
  terminal: Terminal,
  subject: string,
  { level, title, code, since, message, remedy, command }: ShownProblem,
  nowMs: number,
): void {
  const sign = level === 'error' ? terminal.style('red', '✗') : terminal.style('yellow', '!');
  const lasting = since === null ? '' : ` for ${span(nowMs - Date.parse(since))}`;
  terminal.print(`${sign} ${subject}${title} (${code})${lasting}: ${message}`);
  if (remedy !== null) terminal.print(`    → ${remedy}`);
  if (command !== null) terminal.print(`      ${command}`);
}

function stateText({ title, since, state }: FormReport, nowMs: number): string {
  // The title of what is paused says since when.
  return since === null || state === 'paused'
    ? title
    : `${title} for ${span(nowMs - Date.parse(since))}`;
}

function endedText(report: FormReport, nowMs: number): string {
  const { lastPass, rows } = report;
  if (lastPass === null) return rows === null ? 'unknown' : 'none yet';
  return `${lastPassText(report)}, ${ago(lastPass.endedAt, nowMs)}`;
}

function membershipText(report: FormReport, nowMs: number): string {
  const { covers } = report;
  return `${ago(covers.membership, nowMs, missingTime(report))}${exceptText(covers)}`;
}

function nextRunText({ goneAt, nextRunAt }: FormReport, nowMs: number): string {
  if (goneAt !== null) return 'form is gone';
  if (nextRunAt === null) return 'not known';
  return soon(nextRunAt, nowMs);
}
