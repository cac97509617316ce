import { count, plural } from '../base/format.ts';
import type { MarkReport } from '../sync/events.ts';

/** How many submissions of a form `--dry-run` lists. */
const MOST_LISTED = 20;

/** A marking as `sync --json` prints it. */
export function markDocument(report: MarkReport): Record<string, unknown> {
  const { form, failure, wouldMark: _, ...rest } = report;
  const { code = null, message: error = null } = failure ?? {};
  return { form: form.id, slug: form.slug, ...rest, code, error };
}

/** A line for each form of which marking has more to say than how many it marked. */
export function markLines(marks: readonly MarkReport[]): string[] {
  const lines = marks.flatMap((mark) => {
    const said = [...leftOut(mark)];
    return said.length === 0 ? [] : [`Marking ${mark.form.slug}: ${said.join('; ')}.`];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

function* leftOut({ outcome, refused, failed, remembered }: MarkReport): Generator<string> {
  if (outcome === 'elsewhere') yield 'another process is marking it, and it was left to that one';
  if (refused > 0) yield `${plural(refused, 'submission')} refused by the source`;
  if (failed > 0) yield `${plural(failed, 'submission')} could not be tried`;
  if (remembered > 0) {
    yield `${plural(remembered, 'submission')} not tried, as the source refused within the last day`;
  }
}

/** What `--dry-run` would mark. */
export function wouldMarkLines(marks: readonly MarkReport[]): string[] {
  return marks.flatMap(({ form, wouldMark }) => {
    if (wouldMark.length === 0) return [];
    const rest = wouldMark.length - MOST_LISTED;
    return [
      '',
      `Would be marked in ${form.slug}: ${plural(wouldMark.length, 'submission')}`,
      ...wouldMark.slice(0, MOST_LISTED).map(({ id, status }) => `  ${id} (${status})`),
      ...(rest > 0 ? [`  … and ${count(rest)} more`] : []),
    ];
  });
}
