import { count, plural } from '../base/format.ts';
import type { RunReport } from '../sync/run-form.ts';
import type { Difference } from '../sync/verify.ts';
import { runName } from './run-report.ts';

/** The number of rows of each kind to name; the others are counted. */
const MOST_ROWS = 20;

const KINDS: readonly (readonly [kind: Difference['kind'], name: string, title: string])[] = [
  ['missing', 'inserted', 'would be new'],
  ['changed', 'updated', 'would change'],
  ['marked', 'restored', 'would be restored'],
  ['extra', 'deleted', 'would be marked deleted'],
];

const byKind = (changes: readonly Difference[]) =>
  KINDS.map(([kind, name, title]) => {
    const all = changes.filter((change) => change.kind === kind);
    return { name, title, total: all.length, rows: all.slice(0, MOST_ROWS) };
  });

/** What a dry run predicts, for people: each row, and for a changed one its columns. None where nothing would change. */
export function foreseenLines(run: RunReport, changes: readonly Difference[]): string[] {
  if (changes.length === 0) return [];
  const lines = ['', runName(run)];
  for (const { title, total, rows } of byKind(changes)) {
    if (total > 0) lines.push(`  ${plural(total, 'row')} ${title}:`);
    for (const { id, columns } of rows)
      lines.push(`    ${id}${columns.length === 0 ? '' : `: ${columns.join(', ')}`}`);
    if (total > rows.length) lines.push(`    … and ${count(total - rows.length)} more`);
  }
  return lines;
}

/** The same for `--json`. */
export function foreseenDocument(
  { form, target }: RunReport,
  changes: readonly Difference[],
): Record<string, unknown> {
  const kinds = byKind(changes).map(({ name, total, rows }) => {
    const named = rows.map(({ id, columns }) => (columns.length === 0 ? { id } : { id, columns }));
    return [name, { total, rows: named }];
  });
  return { form: form.id, slug: form.slug, target, ...Object.fromEntries(kinds) };
}
