import { count, plural } from '../base/format.ts';
import { FORESEEN, type ForeseenChange } from '../sync/dry-run.ts';
import type { RunReport } from '../sync/run-form.ts';
import { runName } from './run-report.ts';

/** The number of rows of each kind to name; the others are counted. */
const MOST_ROWS = 20;

const TITLES: Readonly<Record<ForeseenChange['kind'], string>> = {
  inserted: 'would be new',
  updated: 'would change',
  restored: 'would be restored',
  deleted: 'would be marked deleted',
};

const byKind = (changes: readonly ForeseenChange[]) =>
  FORESEEN.map((kind) => {
    const all = changes.filter((change) => change.kind === kind);
    return { kind, total: all.length, rows: all.slice(0, MOST_ROWS) };
  });

/** What a dry run predicts, for people: each row, and for a changed one its columns. None where nothing would change. */
export function foreseenLines(run: RunReport, changes: readonly ForeseenChange[]): string[] {
  if (changes.length === 0) return [];
  const lines = ['', runName(run)];
  for (const { kind, total, rows } of byKind(changes)) {
    if (total > 0) lines.push(`  ${plural(total, 'row')} ${TITLES[kind]}:`);
    for (const { submissionId, columns } of rows) {
      const names = columns.map(({ column }) => column).join(', ');
      lines.push(`    ${submissionId}${names === '' ? '' : `: ${names}`}`);
    }
    if (total > rows.length) lines.push(`    … and ${count(total - rows.length)} more`);
  }
  return lines;
}

/** The same for `--json`. */
export function foreseenDocument(
  { form, target }: RunReport,
  changes: readonly ForeseenChange[],
): Record<string, unknown> {
  const kinds = byKind(changes).map(({ kind, total, rows }) => {
    const named = rows.map(({ submissionId: id, columns }) =>
      columns.length === 0 ? { id } : { id, columns },
    );
    return [kind, { total, rows: named }];
  });
  return { form: form.id, slug: form.slug, target, ...Object.fromEntries(kinds) };
}
