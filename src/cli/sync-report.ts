import type { PassReport } from '../sync/events.ts';
import type { ExitCode } from './failure.ts';
import { outcomeWords, passName } from './pass-lines.ts';
import type { MarkOutcome, SyncOutcome } from './sync-run.ts';
import type { Terminal } from './terminal.ts';
import { textTable } from './text-table.ts';
import { count, plural, timeSpan } from './words.ts';

/** 0 when every pass was proven and every marking went through, 130 when stopped, else 1. */
export function syncExitCode({ passes, marks }: SyncOutcome): ExitCode {
  if (passes.some(({ outcome }) => outcome !== 'ok' && outcome !== 'cancelled')) return 1;
  if (marks.some(({ error }) => error !== null)) return 1;
  return passes.some(({ outcome }) => outcome === 'cancelled') ? 130 : 0;
}

/** A pass as `sync --json` prints it. */
export function passDocument(pass: PassReport): Record<string, unknown> {
  const { form, target, kind, outcome, total, distinct, inserted, updated, unchanged } = pass;
  const { deleted, rejected, marked, requests, ms, error } = pass;
  const counts = { inserted, updated, unchanged, deleted, rejected, marked, requests, ms };
  return { form: form.id, target, kind, outcome, total, distinct, ...counts, error };
}

/** Shows what `sync` did: a table, what needs a person, and one line that says it all. */
export function printSync(terminal: Terminal, outcome: SyncOutcome, dryRun: boolean): void {
  for (const line of passTable(terminal, outcome.passes)) terminal.print(line);
  for (const line of complaintLines(terminal, outcome.passes)) terminal.print(line);
  if (dryRun) for (const line of wouldMarkLines(outcome.marks)) terminal.print(line);
  terminal.print(`\n${summaryLine(terminal, outcome, dryRun)}`);
}

/** What went wrong, each thing once: a target that is away fails every form with the same words. */
function complaintLines(terminal: Terminal, passes: readonly PassReport[]): string[] {
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

function passTable(terminal: Terminal, passes: readonly PassReport[]): string[] {
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
    outcomeWords(pass.outcome),
    pass.total === null ? '?' : count(pass.total),
    ...[pass.inserted, pass.updated, pass.unchanged, pass.deleted, pass.rejected].map(count),
    ...(marking ? [count(pass.marked)] : []),
    count(pass.requests),
    timeSpan(pass.ms),
  ]);
  const head = (line: string): string => terminal.style('bold', line);
  return textTable(columns, rows, { maxCell: 40, head });
}

/** What `--dry-run` lists at most of a form. */
const LISTED = 20;

function wouldMarkLines(marks: readonly MarkOutcome[]): string[] {
  return marks.flatMap(({ form, report }) => {
    const found = report?.wouldMark ?? [];
    if (found.length === 0) return [];
    const rest = found.length - LISTED;
    return [
      `\nWould be marked in ${form.slug}: ${plural(found.length, 'submission')}`,
      ...found.slice(0, LISTED).map(({ id, status }) => `  ${id} (${status})`),
      ...(rest > 0 ? [`  … and ${count(rest)} more`] : []),
    ];
  });
}

function summaryLine(terminal: Terminal, { passes }: SyncOutcome, dryRun: boolean): string {
  const well = passes.filter(({ outcome }) => outcome === 'ok');
  const sum = (of: (pass: PassReport) => number): number =>
    passes.reduce((total, pass) => total + of(pass), 0);
  const changes = [
    `${count(sum(({ inserted }) => inserted))} new`,
    `${count(sum(({ updated }) => updated))} changed`,
    `${count(sum(({ deleted }) => deleted))} deleted`,
  ].join(', ');
  const tense = dryRun ? 'Nothing was written; it would be ' : '';
  if (passes.length === 0) return 'There was nothing to do: no form is mirrored.';
  if (well.length === passes.length) {
    const all = passes.length === 1 ? 'The pass is' : `All ${passes.length} passes are`;
    return `${terminal.style('green', '✓')} ${all} proven complete. ${tense}${changes}.`;
  }
  const bad = `${passes.length - well.length} of ${plural(passes.length, 'pass', 'passes')}`;
  return `${terminal.style('red', '✗')} ${bad} did not complete. ${tense}${changes}.`;
}
