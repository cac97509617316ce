import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { answerOf } from '../../src/mirror/types.ts';
import type { FormsStore, StoredSubmission } from '../../src/sandbox/store.ts';
import { type CopiedForm, type CopiedRow, readCopy } from '../simulation/copy.ts';
import { isSame } from '../simulation/judge.ts';
import type { MirrorView } from './mirror-view.ts';

/** The maximum number of named faults of one sort: a table that is completely wrong needs a few lines. */
const TOLD = 5;

/**
 * The faults of a mirror of a source at rest, as sentences; empty if it keeps the laws: the same submissions, each
 * exactly once, with the same status, time and answers (L1, L10), and deleted ones marked (L8). Fields without a column
 * are those that were not selected.
 */
export async function breachesOf(store: FormsStore, view: MirrorView): Promise<string[]> {
  const copy = await readCopy((sql) => view.ask(sql));
  return store.forms().flatMap(({ id }) => breachesOfForm(store, id, copy.get(id)));
}

function breachesOfForm(store: FormsStore, formId: string, form: CopiedForm | undefined): string[] {
  const told = new Map<string, string[]>();
  const tell = (sort: string, id: string): void => {
    told.set(sort, [...(told.get(sort) ?? []), id]);
  };
  for (const id of form?.twice ?? []) tell('L5: has two rows', id);
  const live = new Set<string>();
  for (const submission of store.all(formId)) {
    live.add(submission.id);
    const row = form?.rows.get(submission.id);
    if (form === undefined || row === undefined) tell('L1: missing', submission.id);
    else for (const difference of differences(form, row, submission)) tell(difference, row.id);
  }
  for (const { id, isDeleted } of form?.rows.values() ?? []) {
    if (!live.has(id) && !isDeleted) tell('L8: gone and not marked', id);
  }
  return [...told].map(([sort, ids]) => {
    const more = ids.length > TOLD ? ` and ${ids.length - TOLD} more` : '';
    return `${formId}: ${sort}: ${ids.slice(0, TOLD).join(', ')}${more}`;
  });
}

function differences(form: CopiedForm, row: CopiedRow, submission: StoredSubmission): string[] {
  const found: string[] = [];
  if (row.isDeleted) found.push('L8: exists and is marked deleted');
  if (row.status !== submission.status) found.push('L1: another status');
  const createdAt = canonicalTime(submission.createdAt);
  if (createdAt !== null && Date.parse(row.createdAt) !== Date.parse(createdAt)) {
    found.push('L1: another time');
  }
  for (const { fieldId, column, textColumn } of form.fields) {
    const beside = textColumn === null ? null : row.cells[textColumn];
    const stored = beside ?? (column === null ? null : row.cells[column]);
    if (!isSame(answerOf(submission.data, fieldId), stored)) {
      found.push(`L10: another answer of ${fieldId}`);
    }
  }
  return found;
}
