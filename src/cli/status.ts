import { ago, plural, someOf } from '../base/format.ts';
import {
  claimText,
  type FormReport,
  OUTCOME_TEXTS,
  type Report,
  type TargetReport,
} from '../health/report.ts';
import { reportNow } from './health-sources.ts';
import type { CommandCall, ExitCode } from './host.ts';
import { copyName, noticeLines, pauseLine, problemLine, signOf } from './lines.ts';
import { openApp } from './open-app.ts';
import type { Line } from './terminal.ts';

/** `status`: the health of the mirror. Exits 1 unless its headline says that it is up to date. */
export async function status({
  host,
  options,
}: CommandCall<{ json?: boolean }>): Promise<ExitCode> {
  await using app = await openApp(host);
  const report = await reportNow(app, host);
  if (options.json) host.terminal.printJson(report);
  else host.terminal.print(...statusLines(report));
  return report.state === 'ok' ? 0 : 1;
}

/** The mirror, its targets and their forms, each with its problems and their remedies. */
export function statusLines({ at, state, title, problems, targets, forms }: Report): Line[] {
  const nowMs = Date.parse(at);
  return [
    { sign: signOf(state), text: title },
    ...problems.map((problem) => problemLine('', problem, nowMs)),
    ...targets.flatMap((target) => targetLines(target, nowMs)),
    ...forms.flatMap((form) => formLines(form, nowMs)),
  ];
}

function targetLines(target: TargetReport, nowMs: number): Line[] {
  const { name, state, address, isReadable, pause, problem } = target;
  const unread = 'its forms could not be read, so only those that failed are shown';
  return [
    ...(isReadable ? [{ sign: signOf(state), text: `${name}: ${address}` }] : []),
    ...(pause === null ? [] : [pauseLine(name, pause)]),
    ...(problem === null ? [] : [problemLine(name, problem, nowMs)]),
    ...(isReadable ? [] : [{ sign: 'note', text: `${name}: ${unread}` } as const]),
  ];
}

function formLines(form: FormReport, nowMs: number): Line[] {
  const name = copyName(form);
  const { title, state, rows, deletedRows, rejected, forgotten, claim, lastRun, pause } = form;
  const counts = [
    plural(rows ?? 0, 'row'),
    ...someOf(deletedRows, 'marked deleted'),
    ...someOf(rejected, 'rejected'),
    ...someOf(forgotten, 'forgotten on request'),
  ];
  const holds =
    rows === null
      ? 'what it holds is not known now'
      : `${counts.join(', ')}; ${claimText(claim, nowMs)}`;
  const last =
    lastRun === null
      ? 'no run yet'
      : `last run ${OUTCOME_TEXTS[lastRun.outcome].text}, ${ago(lastRun.endedAt, nowMs)}`;
  const text = `${name}: ${title}; ${holds}; ${last}`;
  return [
    { sign: signOf(state), text },
    // The target's pause is shown once, with the target.
    ...(pause === null || pause.formId === null ? [] : [pauseLine(name, pause)]),
    ...form.problems.map((problem) => problemLine(name, problem, nowMs)),
    ...noticeLines(name, form.notices),
  ];
}
