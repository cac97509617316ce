import { canonicalTime } from '../../src/mirror/canonical-time.ts';
import { cellText, toCell } from '../../src/mirror/cells.ts';
import type { FormsStore, StoredSubmission } from '../../src/sandbox/store.ts';
import type { MirrorRow, MirrorView } from './mirror-view.ts';

/** At most so many are named of one sort: a table that is all wrong needs a few lines. */
const TOLD = 5;

/**
 * The faults of a mirror of a source at rest, as sentences; empty when it keeps the laws: the same
 * submissions, each exactly once, with the same status, time and answers (L1, L10), what is gone marked deleted (L8).
 * Fields without a column are those that were not selected.
 */
export async function breachesOf(store: FormsStore, view: MirrorView): Promise<string[]> {
  const breaches: string[] = [];
  for (const { id } of store.forms()) breaches.push(...(await breachesOfForm(store, view, id)));
  return breaches;
}

/** As {@link breachesOf}, of one form. */
export async function breachesOfForm(
  store: FormsStore,
  view: MirrorView,
  formId: string,
): Promise<string[]> {
  const rows = await view.rows(formId);
  const told = new Map<string, string[]>();
  const tell = (sort: string, id: string): void => {
    told.set(sort, [...(told.get(sort) ?? []), id]);
  };
  const live = new Set<string>();
  for (const submission of store.all(formId)) {
    live.add(submission.id);
    const row = rows.get(submission.id);
    if (row === undefined) tell('L1: missing', submission.id);
    else for (const difference of differences(row, submission)) tell(difference, submission.id);
  }
  for (const [id, row] of rows) {
    if (!live.has(id) && !row.deleted) tell('L8: gone and not marked', id);
  }
  const history = await view.historyBreaches(formId);
  if (history.length > 0) told.set('its history is another one', history);
  return [...told].map(([sort, ids]) => {
    const more = ids.length > TOLD ? ` and ${ids.length - TOLD} more` : '';
    return `${formId}: ${sort}: ${ids.slice(0, TOLD).join(', ')}${more}`;
  });
}

function differences(row: MirrorRow, submission: StoredSubmission): string[] {
  const found: string[] = [];
  if (row.deleted) found.push('L8: exists and is marked deleted');
  if (row.status !== submission.status) found.push('L1: another status');
  const createdAt = canonicalTime(submission.createdAt);
  if (row.createdAtMs !== (createdAt === null ? null : Date.parse(createdAt))) {
    found.push('L1: another time');
  }
  for (const [fieldId, text] of row.cells) {
    const wanted = cellText(toCell(submission.data.get(fieldId)));
    // A blank does not count as an answer in a column of numbers.
    const isBlank = wanted === '' && text === null;
    if (text !== wanted && !isBlank) found.push(`L10: another answer of ${fieldId}`);
  }
  return found;
}
