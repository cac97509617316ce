import type { FormStatus } from './form-status.ts';
import { outcomeWords } from './pass-lines.ts';
import type { Terminal } from './terminal.ts';
import { textTable } from './text-table.ts';
import { ago, count, timeSpan } from './words.ts';

/** A target that could be read, or not. */
export interface TargetStatus {
  readonly target: string;
  readonly address: string | null;
  readonly error: string | null;
}

/** Shows how the copy stands: the targets, a table of forms, and what needs a person. */
export function printStatus(
  terminal: Terminal,
  targets: readonly TargetStatus[],
  forms: readonly FormStatus[],
  nowMs: number,
): void {
  for (const { target, address, error } of targets) {
    if (error === null) terminal.print(`${target}: ${address}`);
    else terminal.print(`${terminal.style('red', '✗')} ${target}: ${error}`);
  }
  if (forms.length === 0) {
    terminal.print('\nNothing has been mirrored yet: forms-mirror sync --full begins.');
    return;
  }
  const titles = ['form', 'target', 'rows', 'deleted', 'rejected', 'last pass', 'proven', 'next'];
  const columns = titles.map((title, at) => ({
    title,
    align: at > 1 && at < 5 ? ('right' as const) : ('left' as const),
  }));
  const rows = forms.map((form) => [
    form.slug,
    form.target,
    ...[form.rows, form.deletedRows, form.rejected].map(count),
    lastPassWords(form, nowMs),
    ago(form.provenAt, nowMs),
    nextWords(form, nowMs),
  ]);
  const head = (line: string): string => terminal.style('bold', line);
  terminal.print('');
  for (const line of textTable(columns, rows, { maxCell: 44, head })) terminal.print(line);
  for (const { slug, target, lastPass } of forms) {
    if (lastPass === null || lastPass.error === null) continue;
    terminal.print(`${terminal.style('yellow', '!')} ${slug} → ${target}: ${lastPass.error}`);
  }
}

function lastPassWords({ lastPass }: FormStatus, nowMs: number): string {
  if (lastPass === null) return 'none yet';
  return `${outcomeWords(lastPass.outcome)}, ${ago(lastPass.endedAt, nowMs)}`;
}

function nextWords({ goneAt, nextDueAt }: FormStatus, nowMs: number): string {
  if (goneAt !== null) return 'form is gone';
  if (nextDueAt === null) return 'now';
  const ms = Date.parse(nextDueAt) - nowMs;
  return ms >= 0 ? `in ${timeSpan(ms)}` : `due ${timeSpan(-ms)} ago`;
}
