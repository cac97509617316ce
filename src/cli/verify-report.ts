import type { ProblemCode } from '../base/catalogue.ts';
import { count, exact, plural } from '../base/format.ts';
import { shellOption } from '../base/printable.ts';
import { pauseText, resumeCommand } from '../mirror/pauses.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { Differing, VerifyReport } from '../sync/verify-form.ts';
import { printNotices } from './run-report.ts';
import type { Terminal } from './terminal.ts';

/** The comparison of a form with its copy in a target, or the error that ended it. */
export interface Comparison {
  readonly form: FormIdentity;
  readonly target: string;
  readonly report: VerifyReport | null;
  readonly code: ProblemCode | null;
  readonly error: string | null;
}

/** Whether nothing differs, or only changes too young for a run to have brought them. */
export const isWell = ({ report }: Comparison): boolean =>
  report?.outcome === 'same' || report?.outcome === 'lagging';

/** Comparisons as `verify --json` prints them. */
export const verifyDocument = (comparisons: readonly Comparison[]): Record<string, unknown> => ({
  // Without a comparison, nothing is known.
  same: comparisons.length > 0 && comparisons.every(({ report }) => report?.outcome === 'same'),
  ok: comparisons.every(isWell),
  forms: comparisons.map(({ form, target, report, code, error }) => ({
    ...report,
    form: form.id,
    slug: form.slug,
    target,
    outcome: report?.outcome ?? 'failed',
    code,
    error,
  })),
});

/** One line if nothing differs, otherwise the differences and their places; never an answer. */
export function printComparison(terminal: Terminal, comparison: Comparison): void {
  const { form, target, report, error } = comparison;
  const name = `${form.slug} → ${target}`;
  if (report === null) return terminal.tell('error', `${name}: ${error}`);
  const compared = `${plural(report.compared, 'submission')} compared`;
  const listed = report.listed === 0 ? '' : `; ${count(report.listed)} listed as rejected`;
  const gone = report.forgotten === 0 ? '' : `; ${count(report.forgotten)} forgotten`;
  const sign = isWell(comparison) ? 'ok' : 'error';
  terminal.tell(sign, `${name}: ${verdictOf(report)}; ${compared}${listed}${gone}`);
  printIds(terminal, 'missing in the copy', report.missing);
  printIds(terminal, 'gone from the source', report.extra);
  printIds(terminal, 'differing', report.differing);
  for (const [column, rows] of Object.entries(report.differing.columns)) {
    terminal.print(`      in ${column}: ${plural(rows, 'row')}`);
  }
  const answers = 'undecided: not in the list, and not 404 by ID';
  printIds(terminal, answers, report.undecided);
  printIds(terminal, 'too young to have been copied', report.lagging);
  printNotices(terminal, name, report.notices);
  if (report.pause !== null)
    terminal.tell(
      'note',
      `${name}: ${pauseText(report.pause)}: the copy is as of that time.`,
      `To resume: ${resumeCommand(report.pause, form.slug, target)}`,
    );
  else if (report.outcome === 'different') {
    const only = `${shellOption('--form', form.slug || form.id)} ${shellOption('--target', target)}`;
    terminal.print('    → To compare everything again and write what differs:');
    terminal.print(`      forms-mirror sync --full ${only}`);
  }
}

function verdictOf({ outcome, startedAt, lagging }: VerifyReport): string {
  switch (outcome) {
    case 'same':
      return `the same as of ${exact(startedAt)}`;
    case 'lagging':
      return `the same as of ${exact(startedAt)}, except for ${count(lagging.count)} that came or changed just now`;
    case 'unproven':
      return 'not proven: the source may not have been read completely';
    case 'different':
      return 'different';
  }
}

function printIds(terminal: Terminal, what: string, { count: all, ids }: Differing): void {
  if (all === 0) return;
  const more = all > ids.length ? ', …' : '';
  terminal.print(
    `    ${count(all)} ${what}: ${ids.map((id) => id || 'one without an ID').join(', ')}${more}`,
  );
}
