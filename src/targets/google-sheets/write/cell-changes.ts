import type { Rejection } from '../../../mirror/types.ts';
import type { SheetValue } from '../api/cell-value.ts';
import type { ColumnKey } from '../api/metadata.ts';
import { type ComparedRows, placed, type RowChange } from '../rows/row-comparison.ts';
import type { IndexedRow } from '../rows/row-index.ts';
import type { FormSheet } from '../state/form-sheet.ts';
import { blockedListings, writableChanges } from './writable.ts';

/** Keys read longer ago than this are read again before rows are written. */
export const KEYS_FRESH_MS = 20_000;

/** Changes of one cell each, and the listings of those that something is in the way of. */
export interface CellChanges {
  readonly changes: readonly RowChange[];
  readonly rejections: readonly Rejection[];
}

/** Changes of one cell each in the rows of some submissions, as far as they are there and `wanted`. */
export async function cellChanges(
  sheet: FormSheet,
  ids: readonly string[],
  wanted: (row: IndexedRow) => boolean,
  change: (row: IndexedRow) => { key: ColumnKey; value: SheetValue; was: string },
): Promise<CellChanges> {
  const index = await sheet.rows(KEYS_FRESH_MS);
  const layout = sheet.usableLayout();
  const rows = [...new Set(ids)].flatMap((id) => index.get(id) ?? []).filter(wanted);
  const all = rows.map((row): RowChange => {
    const { key, value, was } = change(row);
    const values = placed(new Map([[key, value]]), layout);
    const texts = placed(new Map([[key, was]]), layout);
    return { id: row.id, row: row.row, values, was: texts, strict: false };
  });
  const { changes, blocked } = writableChanges(all, sheet.obstacles.all);
  const rejections = blockedListings(sheet, blocked);
  return { changes: [...changes].sort((a, b) => a.row - b.row), rejections };
}

/** The submissions whose rows change. */
export const changedIds = ({ outcomes }: ComparedRows): string[] =>
  [...outcomes].flatMap(([id, outcome]) =>
    outcome === 'updated' || outcome === 'restored' ? [id] : [],
  );

/** The submissions whose cells change. */
export const idsOf = (changes: readonly RowChange[]): string[] => changes.map(({ id }) => id);
