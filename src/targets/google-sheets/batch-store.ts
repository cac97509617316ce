import type { Row } from '../../mirror/types.ts';
import { growthSince } from './capacity.ts';
import type { RowChange } from './row-groups.ts';
import type { FieldCatalogue } from './field-catalogue.ts';
import { catalogueDigest, type FormSheet } from './form-sheet.ts';
import type { FormState, RowCounts } from './form-state.ts';
import { writeLedger } from './own-tabs.ts';
import type { RowIndex } from './row-index.ts';
import type { Located } from './row-locator.ts';
import { storeRows } from './row-store.ts';
import { newContents, type SheetRow } from './row-values.ts';

/** How long others keep off after a write that is probably the pass's last. */
const LAST_LEASE_MS = 10_000;

/** A batch, compared. */
export interface ComparedBatch {
  readonly located: Located;
  readonly storable: readonly SheetRow[];
  readonly rows: readonly Row[];
  /** How long others keep off afterwards. */
  readonly leaseMs: number;
  /** ISO time. */
  readonly now: string;
}

/**
 * Writes a batch: its rows, what changed in the ledger, what its answers tell of their columns, and the new counts.
 * Nothing when there is nothing to write.
 */
export async function storeBatch(sheet: FormSheet, batch: ComparedBatch): Promise<void> {
  const { located } = batch;
  const catalogue = catalogueWith(sheet, batch.rows);
  if (catalogue !== undefined) await sheet.book.ledger();
  const kept = catalogue === undefined ? [] : sheet.catalogueRequests(catalogue);
  const ledger = writeLedger(sheet);
  const nothing = located.changes.length === 0 && located.newRows.length === 0;
  if (nothing && kept.length === 0 && ledger.requests.length === 0) return;
  const state = stateNow(sheet, batch.now);
  const base =
    catalogue === undefined ? state : { ...state, catalogue: catalogueDigest(catalogue) };
  const restored = [...located.outcomes.values()].filter((one) => one === 'restored').length;
  const after = (inserted: number): FormState => {
    const { counts } = base;
    const live = counts.live + restored + inserted;
    return { ...base, counts: { ...counts, live, removed: counts.removed - restored } };
  };
  await storeRows(sheet, {
    changes: located.changes,
    newRows: located.newRows,
    first: [...kept, ...ledger.requests],
    each: (inserted) => sheet.stateRequests(after(inserted)),
    leaseMs: batch.leaseMs,
  });
  noteStored(sheet, batch);
  if (catalogue !== undefined) sheet.keptCatalogue(catalogue);
  ledger.kept();
  sheet.keptState(after(located.newRows.length));
}

/** Writes changes of some cells, with what changed in the ledger. `note` tells the index of each. */
export async function storeChanges(
  sheet: FormSheet,
  changes: readonly RowChange[],
  now: string,
  note: (index: RowIndex, id: string) => void,
): Promise<void> {
  const ledger = writeLedger(sheet);
  if (changes.length === 0 && ledger.requests.length === 0) return;
  for (const { id } of changes) {
    if (sheet.index !== undefined) note(sheet.index, id);
    sheet.index?.setFingerprint(id, Number.NaN);
  }
  const after = stateNow(sheet, now);
  await storeRows(sheet, {
    changes,
    newRows: [],
    first: ledger.requests,
    each: () => sheet.stateRequests(after),
    leaseMs: LAST_LEASE_MS,
  });
  ledger.kept();
  sheet.keptState(after);
}

/** The form's state with rows counted as they are known now. */
export function stateNow(sheet: FormSheet, now: string, state = sheet.state): FormState {
  const counts = countsNow(sheet, state.counts);
  const growth = growthSince(state.growth, counts.live + counts.removed, now);
  return { ...state, counts, growth };
}

function countsNow({ index, book, form }: FormSheet, old: RowCounts): RowCounts {
  return {
    live: index === undefined ? old.live : index.size - index.removedCount,
    removed: index?.removedCount ?? old.removed,
    copies: index?.copies.length ?? old.copies,
    rejected: book.knownLedger?.rejections(form.id).length ?? old.rejected,
  };
}

function noteStored({ index }: FormSheet, { located, storable }: ComparedBatch): void {
  if (index === undefined) return;
  const byId = new Map(storable.map((row) => [row.id, row]));
  const statusOf = (row: SheetRow): string => String(row.values.get('s:status') ?? '');
  for (const { id } of located.changes) {
    const row = byId.get(id);
    if (row === undefined) continue;
    index.update(id, { status: statusOf(row), removed: false });
    index.setFingerprint(id, row.fingerprint);
  }
  let place = index.lastRow;
  for (const row of located.newRows) {
    const fresh = { id: row.id, row: ++place, status: statusOf(row), removed: false };
    index.append(fresh, row.fingerprint);
  }
}

/** The catalogue with what these rows' answers tell of their columns; undefined when they tell nothing new. */
function catalogueWith(
  { catalogue, prepared }: FormSheet,
  rows: readonly Row[],
): FieldCatalogue | undefined {
  const written = catalogue.fields.filter((field) => prepared.has(field.id));
  const contents = newContents(rows, new Map(written.map((field) => [field.id, field.content])));
  if (contents.size === 0) return undefined;
  const fields = catalogue.fields.map((field) => {
    const content = contents.get(field.id);
    return content === undefined ? field : Object.assign({}, field, { content });
  });
  return { ...catalogue, fields };
}
