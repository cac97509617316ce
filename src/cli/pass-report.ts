import { count, duration, plural } from '../base/format.ts';
import { OUTCOMES } from '../health/pass-summary.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { PassKind } from '../mirror/types.ts';
import type { PassProgress, PassReport, PassSubject } from '../sync/events.ts';
import type { Terminal } from './terminal.ts';
import { textTable } from './text-table.ts';

/** `contact → default`: the form and target of a pass, for a line or a bar. */
export function passName({ form, target }: Pick<PassSubject, 'form' | 'target'>): string {
  return `${form.slug === '' ? form.id : form.slug} → ${target}`;
}

const STARTED: Readonly<Record<PassKind, string>> = {
  incremental: 'looking for what is new',
  full: 'reading everything',
  compare: 'comparing some of it row by row',
};

/** What a pass that begins is going to do. */
export function startedLine(subject: PassSubject): string {
  return `${passName(subject)}: ${STARTED[subject.kind]}`;
}

/** How far a pass has come: `contact → default: 500 of 1,250`. */
export function progressLine(progress: PassProgress): string {
  return `${passName(progress)}: ${count(progress.seen)} of ${count(progress.total)}`;
}

/** How a pass ended, what it changed, and what it cost. */
export function endedLine(report: PassReport): string {
  const changes = (
    [
      ['new', report.inserted],
      ['changed', report.updated],
      ['deleted', report.deleted],
      ['no longer counted by the source and to be looked for', report.absent],
      ['absent but not known to be deleted', report.undecided],
      ['rejected', report.rejected],
      [`${report.doubles === 1 ? 'entry' : 'entries'} shown twice by the source`, report.doubles],
    ] as const
  )
    .filter(([, number]) => number > 0)
    .map(([word, number]) => `${count(number)} ${word}`);
  // Only a pass with its proof knows that there was nothing.
  const isProven = report.outcome === 'ok' || report.outcome === 'withheld';
  const nothing = isProven ? 'nothing new' : 'nothing written';
  const what = changes.length > 0 ? changes.join(', ') : nothing;
  const cost = `${plural(report.requests, 'request')}, ${duration(report.ms)}`;
  return `${passName(report)}: ${resultText(report)}; ${what} (${cost})`;
}

/** How a pass ended, in a few words. */
const resultText = ({ outcome, absent }: PassReport): string =>
  outcome === 'ok' && absent > 0 ? 'complete except for deletions' : OUTCOMES[outcome].text;

/** A pass as `sync --json` prints it; `refused`: how many statuses the source refused to the marking after it. */
export function passDocument(pass: PassReport, refused: number): Record<string, unknown> {
  const { form, target, kind, outcome, total, distinct, inserted, updated, unchanged } = pass;
  const {
    deleted,
    rejected,
    undecided,
    doubles,
    withheld,
    absent,
    marked,
    requests,
    ms,
    reason,
    code,
    error,
    notices,
  } = pass;
  const subject = { form: form.id, slug: form.slug, target, kind, outcome };
  const changes = {
    inserted,
    updated,
    unchanged,
    deleted,
    withheld,
    absent,
    undecided,
    rejected,
    doubles,
  };
  const counts = { ...changes, marked, refused, requests, ms };
  return { ...subject, total, distinct, ...counts, reason, code, error, notices };
}

/** Passes as lines of a table, with a column `marked` where something was marked. */
export function passTable(terminal: Terminal, passes: readonly PassReport[]): string[] {
  const marking = passes.some(({ marked }) => marked > 0);
  const numbers = ['rows', 'new', 'changed', 'same', 'deleted', 'rejected'];
  const right = [...numbers, ...(marking ? ['marked'] : []), 'requests', 'time'];
  const columns = [
    ...['form', 'target', 'pass', 'result'].map((title) => ({ title })),
    ...right.map((title) => ({ title, align: 'right' as const })),
  ];
  const rows = passes.map((pass) => [
    pass.form.slug,
    pass.target,
    pass.kind,
    resultText(pass),
    pass.total === null ? '?' : count(pass.total),
    ...[pass.inserted, pass.updated, pass.unchanged, pass.deleted, pass.rejected].map(count),
    ...(marking ? [count(pass.marked)] : []),
    count(pass.requests),
    duration(pass.ms),
  ]);
  const head = (line: string): string => terminal.style('bold', line);
  return textTable(columns, rows, { maxCell: 40, head });
}

/** Each error once, as a target that cannot be reached fails every form with the same message. */
export function errorLines(terminal: Terminal, passes: readonly PassReport[]): string[] {
  const failed = passes.filter(({ error }) => error !== null);
  const lines = [...Map.groupBy(failed, ({ error }) => error)].map(([error, group]) => {
    const [first] = group;
    const who =
      first && group.length === 1 ? passName(first) : plural(group.length, 'pass', 'passes');
    const sign = group.every(({ outcome }) => outcome === 'ok') ? '!' : '✗';
    return `${terminal.style('red', sign)} ${who}: ${error}`;
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Why passes read everything though nobody asked for it, or what they found lost. */
export const reasonLines = (terminal: Terminal, passes: readonly PassReport[]): string[] =>
  passes.flatMap((pass) =>
    pass.reason === null
      ? []
      : [`${terminal.style('yellow', '!')} ${passName(pass)}: ${pass.reason}`],
  );

/** What people did to targets and the passes left alone, each with its remedy. */
export const noticeLines = (
  terminal: Terminal,
  about: string,
  notices: readonly TargetNotice[],
): string[] =>
  notices.flatMap(({ message, remedy }) => [
    `${terminal.style('yellow', '!')} ${about}: ${message}`,
    `    → ${remedy}`,
  ]);

/** One line that sums up all passes. */
export function summaryLine(
  terminal: Terminal,
  passes: readonly PassReport[],
  dryRun: boolean,
): string {
  if (passes.length === 0) return 'There was nothing to do: no form is mirrored.';
  const complete = passes.filter(({ outcome }) => outcome === 'ok').length;
  const sum = (of: (pass: PassReport) => number): number =>
    passes.reduce((total, pass) => total + of(pass), 0);
  const changes = [
    `${count(sum(({ inserted }) => inserted))} new`,
    `${count(sum(({ updated }) => updated))} changed`,
    `${count(sum(({ deleted }) => deleted))} deleted`,
  ].join(', ');
  const tense = dryRun ? 'Nothing was written; it would be ' : '';
  if (complete === passes.length) {
    const all = passes.length === 1 ? 'The pass is' : `All ${passes.length} passes are`;
    const absent = sum((pass) => pass.absent);
    const proven = absent === 0 ? 'proven complete' : 'proven';
    return `${terminal.style('green', '✓')} ${all} ${proven}: ${coveredBy(passes, absent)}. ${tense}${changes}.`;
  }
  const others = `${passes.length - complete} of ${plural(passes.length, 'pass', 'passes')}`;
  return `${terminal.style('red', '✗')} ${others} did not complete. ${tense}${changes}.`;
}

/** What proven passes cover: only full ones compare answers; a look that found nothing changed has seen all statuses counted. */
function coveredBy(passes: readonly PassReport[], absent: number): string {
  const full = passes.filter(({ kind }) => kind === 'full').length;
  if (full === passes.length) return 'submissions, statuses and answers';
  const looked = passes.filter(({ byLook }) => byLook === true).length;
  const areCounted = full + looked === passes.length && absent === 0;
  const some = (number: number, what: string): string =>
    number === 0 ? '' : `, of ${plural(number, 'pass', 'passes')} ${what} too`;
  const others =
    (areCounted ? '' : some(looked, 'statuses')) +
    some(full, areCounted ? 'answers' : 'statuses and answers');
  const except =
    absent === 0
      ? ''
      : ` except for ${count(absent)} that the source no longer counts, which the next passes look for`;
  const what = areCounted ? 'submissions and statuses' : 'submissions';
  return `${what}${except}${others}; edited answers are found row by row, by sync --full at once`;
}
