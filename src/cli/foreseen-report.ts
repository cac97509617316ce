import { count, plural } from '../base/format.ts';
import type { RunSubject } from '../sync/events.ts';
import { FORESEEN, type ForeseenChange } from '../sync/dry-run.ts';
import { runName } from './run-report.ts';

/** The number of rows of each kind to name. */
const MOST_ROWS = 20;

const TITLES: Readonly<Record<ForeseenChange['kind'], string>> = {
  inserted: 'would be new',
  updated: 'would change',
  restored: 'would be restored',
  deleted: 'would be marked deleted',
};

/**
 * The changes that one dry run predicts: how many rows of each kind, and the first of them. Counts the others: memory
 * does not grow with the form (L14).
 */
export class ForeseenRows {
  readonly #kinds = FORESEEN.map((kind) => ({ kind, total: 0, rows: [] as ForeseenChange[] }));

  add(change: ForeseenChange): void {
    const kind = this.#kinds.find((each) => each.kind === change.kind);
    if (kind === undefined) return;
    kind.total += 1;
    if (kind.rows.length < MOST_ROWS) kind.rows.push(change);
  }

  /** Lines for people: each row, and for a changed one its columns. None where nothing would change. */
  lines(subject: Pick<RunSubject, 'form' | 'target'>): string[] {
    const lines: string[] = [];
    for (const { kind, total, rows } of this.#kinds.filter((each) => each.total > 0)) {
      lines.push(`  ${plural(total, 'row')} ${TITLES[kind]}:`);
      for (const { submissionId, columns } of rows) {
        const names = columns.map(({ column }) => column).join(', ');
        lines.push(`    ${submissionId}${names === '' ? '' : `: ${names}`}`);
      }
      if (total > rows.length) lines.push(`    … and ${count(total - rows.length)} more`);
    }
    return lines.length === 0 ? [] : ['', runName(subject), ...lines];
  }

  /** The same for `--json`. */
  document({ form, target }: Pick<RunSubject, 'form' | 'target'>): Record<string, unknown> {
    const kinds = this.#kinds.map(({ kind, total, rows }) => {
      const named = rows.map(({ submissionId: id, columns }) =>
        columns.length === 0 ? { id } : { id, columns },
      );
      return [kind, { total, rows: named }];
    });
    return { form: form.id, slug: form.slug, target, ...Object.fromEntries(kinds) };
  }
}
