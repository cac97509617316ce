import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { cellText, toCell } from '../../src/mirror/cell.ts';
import type { FormsStore, StoredSubmission } from '../../src/sandbox/forms-api/store.ts';
import { type TableRow, type TableView, textOf } from './table-view.ts';
import type { Move } from './watched-store.ts';

/** By how much counts by status differ. */
export type CountChange = ReadonlyMap<string, number>;

/** A submission that a target does not hold as the source has it. */
export interface Difference {
  readonly formId: string;
  readonly id: string;
  /** In words, for a failing case. */
  readonly what: string;
  /** What the source counts more than the target; empty where no count by status tells of it. */
  readonly counts: CountChange;
}

/**
 * How one form in one target differs from the source now. Submissions in a shape that can't be stored whole are left out, and
 * those that were forgotten.
 */
export function differencesOf(
  store: FormsStore,
  view: TableView,
  formId: string,
  forgotten: ReadonlySet<string>,
): Difference[] {
  const rows = view.rows(formId);
  const columns = view.columns(formId);
  const all = [...store.all(formId)];
  const source = new Map(all.map((each) => [each.id, each]));
  const found: Difference[] = [];
  const note = (id: string, what: string, moved: Omit<Move, 'formId' | 'id'>): void =>
    void found.push({ formId, id, what, counts: countsOf([moved]) });
  for (const [id, submission] of source) {
    if (store.distortionOf(id) !== undefined || forgotten.has(id)) continue;
    const row = rows.get(id);
    const to = submission.status;
    if (row === undefined) note(id, `is missing, ${to}`, { from: null, to });
    else if (row._deleted_at !== null) note(id, `is marked deleted, ${to}`, { from: null, to });
    else if (row.status !== to) note(id, `is ${row.status}, not ${to}`, { from: row.status, to });
    else if (!sameCells(row, submission, columns)) note(id, 'has other answers', NO_MOVE);
  }
  for (const [id, row] of rows) {
    if (source.has(id) || row._deleted_at !== null || forgotten.has(id)) continue;
    if (store.distortionOf(id) !== undefined) continue;
    note(id, `is gone, and not marked, ${row.status}`, { from: row.status, to: null });
  }
  return found;
}

const NO_MOVE = { from: null, to: null };

function sameCells(
  row: TableRow,
  submission: StoredSubmission,
  columns: ReadonlyMap<string, string>,
): boolean {
  if (row.created_at !== canonicalTime(submission.createdAt)) return false;
  return [...columns].every(
    // A blank is no answer in a column of numbers.
    ([field, column]) =>
      (textOf(row[column]) ?? '') === (cellText(toCell(submission.data.get(field))) ?? ''),
  );
}

/** What these moves do to the counts by status, all in all. */
function countsOf(moves: readonly Pick<Move, 'from' | 'to'>[]): CountChange {
  const counts = new Map<string, number>();
  for (const { from, to } of moves) {
    if (from !== null) counts.set(from, (counts.get(from) ?? 0) - 1);
    if (to !== null) counts.set(to, (counts.get(to) ?? 0) + 1);
  }
  return nonZero(counts);
}

/** Sums of count changes; empty when they cancel out. */
export function summed(changes: readonly CountChange[]): CountChange {
  const counts = new Map<string, number>();
  for (const [status, count] of changes.flatMap((change) => [...change])) {
    counts.set(status, (counts.get(status) ?? 0) + count);
  }
  return nonZero(counts);
}

/**
 * Whether these moves may have hidden a change from counts: for each status by which they differ, as many of them went the
 * other way, or are of submissions that show no status, so that nobody knows with which they are counted.
 */
export function mayHide(
  change: CountChange,
  others: readonly Move[],
  showsNone: (id: string) => boolean,
): boolean {
  return [...change].every(([status, count]) => {
    const opposite = others.filter(
      (move) => showsNone(move.id) || (count > 0 ? move.from : move.to) === status,
    );
    return opposite.length >= Math.abs(count);
  });
}

function nonZero(counts: ReadonlyMap<string, number>): CountChange {
  return new Map([...counts].filter(([, count]) => count !== 0));
}
