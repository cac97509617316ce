import { ago, plural, span } from '../base/format.ts';
import {
  exceptText,
  type FormReport,
  type HealthState,
  isCurrent,
  isKnown,
  missingTime,
  OUTCOME_TEXTS,
  type Problem,
  type Report,
  type TargetReport,
} from '../health/report.ts';
import { pauseText } from '../mirror/pauses.ts';
import type { CommandCall } from './command-spec.ts';
import { reportNow } from './health-sources.ts';
import { openApp } from './open-app.ts';
import { printNotices, runName } from './run-report.ts';
import type { Sign, Terminal } from './terminal.ts';
import { EXIT_CODES, type ExitCode } from './host.ts';

/** `status`: the health of the mirror. Exits 1 unless every form is known to be current. */
export async function run({ host, flag }: CommandCall): Promise<ExitCode> {
  const { terminal, stop } = host;
  await using app = await openApp(host);
  const report = await reportNow(app, host);
  if (flag('json')) terminal.printJson(report);
  else printStatus(terminal, report);
  return stop.exitCode() ?? (isCurrent(report) ? EXIT_CODES.DONE : EXIT_CODES.FAILED).code;
}

/** The targets, a table of forms, and the problems with their remedies. */
export function printStatus(terminal: Terminal, report: Report): void {
  const { problems, targets, forms } = report;
  const nowMs = Date.parse(report.at);
  terminal.tell(SIGNS[report.state] ?? 'note', report.title);
  for (const target of targets) printTarget(terminal, target, nowMs);
  if (forms.length > 0) {
    terminal.print('');
    printForms(terminal, forms, nowMs);
  } else if (targets.every(isKnown)) terminal.print('', 'To begin: forms-mirror sync');
  for (const { name } of targets.filter((target) => !isKnown(target))) {
    const known = 'the table shows only those that failed';
    terminal.tell('note', `${name}: its forms could not be read, so ${known}`);
  }
  for (const problem of problems) printProblem(terminal, '', problem, nowMs);
  for (const report of forms) {
    const about = runName(report);
    // That of the target is printed above.
    if (report.pause?.ofTarget === false) printPause(terminal, about, report.pause);
    for (const problem of report.problems) printProblem(terminal, `${about}: `, problem, nowMs);
    if ((report.forgotten ?? 0) > 0) {
      const forgotten = plural(report.forgotten ?? 0, 'submission');
      terminal.tell('note', `${about}: ${forgotten} forgotten on request, and kept away`);
    }
    printNotices(terminal, about, report.notices);
  }
}

const SIGNS: Partial<Record<HealthState, Sign>> = {
  ok: 'ok',
  failed: 'error',
  attention: 'warning',
};

function printTarget(
  terminal: Terminal,
  { name, address, isReadable, pause, problem }: TargetReport,
  nowMs: number,
): void {
  if (isReadable) terminal.print(`${name}: ${address}`);
  if (pause !== null) printPause(terminal, name, pause);
  if (problem !== null) printProblem(terminal, `${name}: `, problem, nowMs);
}

/** `· contact → default: paused since … by …`, and below it how to resume. */
function printPause(
  terminal: Terminal,
  subject: string,
  { command, ...pause }: NonNullable<FormReport['pause']>,
): void {
  terminal.tell('note', `${subject}: ${pauseText(pause)}`, `To resume: ${command}`);
}

function printForms(terminal: Terminal, forms: readonly FormReport[], nowMs: number): void {
  const titles = [
    'form',
    'target',
    'state',
    'rows',
    'deleted',
    'rejected',
    'last run',
    'submissions as of',
    'statuses as of',
    'answers as of',
  ];
  const rows = forms.map((form) => [
    form.form.slug,
    form.target,
    form.title,
    form.rows,
    form.deletedRows,
    form.rejected,
    lastRunText(form, nowMs),
    `${ago(form.claim.submissionsAsOf, nowMs, missingTime(form))}${exceptText(form.claim)}`,
    ago(form.claim.statusesAsOf, nowMs, missingTime(form)),
    ago(form.claim.answersAsOf, nowMs, missingTime(form)),
  ]);
  terminal.table(titles, rows);
}

/** `✗ contact → default: The last run failed (TARGET_FULL) for 3 h: …`, and below it what to do. */
function printProblem(
  terminal: Terminal,
  subject: string,
  { level, title, code, since, message, remedy, command }: Problem,
  nowMs: number,
): void {
  const lasting = since === null ? '' : ` for ${span(nowMs - Date.parse(since))}`;
  const text = `${subject}${title} (${code})${lasting}: ${message}`;
  terminal.tell(level === 'error' ? 'error' : 'warning', text, remedy, command);
}

function lastRunText({ lastRun, rows }: FormReport, nowMs: number): string {
  if (lastRun === null) return rows === null ? 'unknown' : 'none yet';
  return `${OUTCOME_TEXTS[lastRun.outcome].text}, ${ago(lastRun.endedAt, nowMs)}`;
}
