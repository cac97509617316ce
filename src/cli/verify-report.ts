import type { FormIdentity } from '../mirror/types.ts';
import type { Differences, VerifyReport } from '../sync/verify.ts';
import type { Terminal } from './terminal.ts';
import { count, plural } from './words.ts';

/** A comparison, or the error it ended with. */
export interface Verdict {
  readonly form: FormIdentity;
  readonly target: string;
  readonly report: VerifyReport | null;
  readonly error: string | null;
}

/** A comparison as `verify --json` prints it. */
export function verdictDocument({ form, target, report, error }: Verdict): Record<string, unknown> {
  return { ...report, form: form.id, target, outcome: report?.outcome ?? 'failed', error };
}

/** Shows a comparison: one line when all is the same, else what differs and where; never an answer. */
export function printVerdict(terminal: Terminal, { form, target, report, error }: Verdict): void {
  const name = `${form.slug} → ${target}`;
  const bad = terminal.style('red', '✗');
  if (report === null) {
    terminal.print(`${bad} ${name}: ${error}`);
    return;
  }
  const compared = `${plural(report.compared, 'submission')} compared`;
  const listed = report.listed === 0 ? '' : `; ${count(report.listed)} listed as rejected`;
  if (report.outcome === 'same') {
    terminal.print(`${terminal.style('green', '✓')} ${name}: the same; ${compared}${listed}`);
    return;
  }
  const what = report.outcome === 'unproven' ? 'the source could not be read whole' : 'different';
  terminal.print(`${bad} ${name}: ${what}; ${compared}${listed}`);
  printDifferences(terminal, 'missing in the copy', report.missing);
  printDifferences(terminal, 'gone from the source', report.extra);
  printDifferences(terminal, 'differing', report.differing);
  for (const [column, rows] of Object.entries(report.differing.columns)) {
    terminal.print(`      in ${column}: ${plural(rows, 'row')}`);
  }
}

function printDifferences(
  terminal: Terminal,
  what: string,
  { count: all, ids }: Differences,
): void {
  if (all === 0) return;
  const more = all > ids.length ? ', …' : '';
  terminal.print(`    ${count(all)} ${what}: ${ids.join(', ')}${more}`);
}
