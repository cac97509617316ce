import type { RowOutcome } from '../../mirror/target.ts';
import { spansOf } from './a1.ts';
import type { RowChange } from './row-groups.ts';
import type { FormSheet } from './form-sheet.ts';
import { movedTo } from './layout.ts';
import { idOf, keyColumnsOf, RowIndex } from './row-index.ts';
import type { RowEncoder, SheetRow } from './row-values.ts';
import type { ColumnKey } from './sheet-metadata.ts';
import { movedError } from './sheets-error.ts';
import type { ReadValue, SheetValue } from './sheet-value.ts';
import type { Layout } from './structure.ts';
import {
  CELLS_A_READ,
  type ColumnsRead,
  isSmall,
  readColumns,
  readRows,
  type RowsRead,
  type Span,
} from './tab-reading.ts';
import { SPARE_ROWS } from './write-plan.ts';

/** A batch that large is compared by reading the tab from end to end rather than row by row. */
const MANY_ROWS = 1_000;

/** What a batch comes to, as the sheet was a moment ago. */
export interface Located {
  /** In grid order. */
  readonly changes: readonly RowChange[];
  readonly newRows: readonly SheetRow[];
  readonly outcomes: ReadonlyMap<string, RowOutcome>;
}

/**
 * Compares rows with what the sheet holds, in as few reads as the tab's size allows. A tab of up to 300,000 cells is read
 * whole, at one instant. Of a larger one the key columns are read at one instant, and then either the rows in question,
 * or, for large batches, every row once, remembered as a fingerprint of 8 bytes (L14).
 */
export async function locateRows(
  sheet: FormSheet,
  encoder: RowEncoder,
  rows: readonly SheetRow[],
): Promise<Located> {
  const comparison = new Comparison(sheet, encoder, rows);
  if (sheet.index === undefined) await firstLook(sheet, comparison, rows.length);
  else await secondLook(sheet, comparison);
  return comparison.result(sheet.index ?? new RowIndex());
}

/** Reads the key columns of a tab; fingerprints that are known stay. */
export async function readKeys(sheet: FormSheet): Promise<RowIndex> {
  return (await readKeysAnd(sheet, undefined)).index;
}

async function readKeysAnd(
  sheet: FormSheet,
  rows: Span | undefined,
): Promise<{ index: RowIndex; rows: RowsRead }> {
  const layout = sheet.usableLayout();
  const keys = keyColumnsOf(layout);
  const read = await readColumns(sheet.book.api, layout, { keys, rows });
  sheet.keepLayout(found(layout, keys, read));
  sheet.headerIsGone = read.header === undefined;
  const index = RowIndex.fromColumns(read);
  if (sheet.index !== undefined) index.adoptFingerprints(sheet.index);
  sheet.index = index;
  return { index, rows: read.rows };
}

/** The key columns, read when they are not in memory, or were read longer ago than `maxAgeMs`. */
export const knownKeys = async (sheet: FormSheet, maxAgeMs: number): Promise<RowIndex> =>
  sheet.index === undefined || sheet.indexAgeMs > maxAgeMs ? readKeys(sheet) : sheet.index;

async function firstLook(sheet: FormSheet, comparison: Comparison, size: number): Promise<void> {
  const layout = sheet.usableLayout();
  if (isSmall(layout)) {
    await readWhole(sheet, comparison);
    return;
  }
  if (size >= MANY_ROWS) {
    await readKeys(sheet);
    await readAll(sheet, comparison);
    return;
  }
  // A small batch is mostly about the newest rows, and these mostly stand at the end: they come along in the same read.
  const end = layout.rowCount;
  const tail = { start: Math.max(0, end - SPARE_ROWS - MANY_ROWS), end };
  const { rows } = await readKeysAnd(sheet, tail);
  comparePlaced(comparison, sheet.usableLayout(), rows);
  await readSome(sheet, comparison, comparison.open());
}

/** Rows whose fingerprints tell that nothing changed are not read again. */
async function secondLook(sheet: FormSheet, comparison: Comparison): Promise<void> {
  comparison.settleByFingerprint();
  if (comparison.open().length === 0) return;
  if (isSmall(sheet.usableLayout())) await readWhole(sheet, comparison);
  else await readSome(sheet, comparison, comparison.open());
}

async function readWhole(sheet: FormSheet, comparison: Comparison): Promise<void> {
  const layout = sheet.usableLayout();
  const keys = [...layout.columns.keys()];
  const read = await readColumns(sheet.book.api, layout, { keys });
  sheet.keepLayout(found(layout, keys, read));
  sheet.headerIsGone = read.header === undefined;
  const index = RowIndex.fromColumns(read);
  sheet.index = index;
  comparison.forget();
  // Asking for a wanted row makes one of ours of it, even where somebody cleared its status.
  comparison.open();
  for (const { id, row } of index) {
    comparison.compare(id, row, (key) => read.columns.get(key)?.values[row]);
  }
}

/** Every row of a large tab, in pieces. */
async function readAll(sheet: FormSheet, comparison: Comparison): Promise<void> {
  const layout = sheet.usableLayout();
  const width = Math.max(1, layout.columns.size);
  const rowsARead = Math.max(1, Math.floor(CELLS_A_READ / width));
  const last = sheet.index?.lastRow ?? -1;
  for (let start = 0; start <= last; start += rowsARead) {
    const end = Math.min(last + 1, start + rowsARead);
    comparePlaced(comparison, layout, await readRows(sheet.book.api, layout, [{ start, end }]));
  }
  // Rows that somebody moved while we read are looked for by themselves.
  await readSome(sheet, comparison, comparison.open());
}

/** The rows of some submissions. Where another submission stands by now, the key columns are read again, once. */
async function readSome(
  sheet: FormSheet,
  comparison: Comparison,
  ids: readonly string[],
): Promise<void> {
  for (let round = 0, wanted = ids; wanted.length > 0; round++, wanted = comparison.open()) {
    if (round === 3) throw movedError(sheet.book.address);
    if (round > 0) await readKeys(sheet);
    const layout = sheet.usableLayout();
    const places = wanted.flatMap((id) => sheet.index?.get(id)?.row ?? []).sort((a, b) => a - b);
    if (places.length === 0) return;
    comparePlaced(comparison, layout, await readRows(sheet.book.api, layout, spansOf(places, 8)));
  }
}

function comparePlaced(comparison: Comparison, layout: Layout, read: RowsRead): void {
  const idColumn = layout.columns.get('s:id')?.index ?? 0;
  for (const [row, cells] of read) {
    const valueOf = (key: ColumnKey): ReadValue => cells[layout.columns.get(key)?.index ?? -1];
    comparison.compare(idOf(cells[idColumn]), row, valueOf);
  }
}

/** The layout as a read found it. Throws when a column is gone: then all that was planned on it is void. */
function found(layout: Layout, keys: readonly ColumnKey[], read: ColumnsRead): Layout {
  const moved = movedTo(layout, keys, read);
  if (moved.columns.size < layout.columns.size) throw movedError(layout.title);
  return moved;
}

/** The wanted rows, and what is found out about them. */
class Comparison {
  readonly #sheet: FormSheet;
  readonly #encoder: RowEncoder;
  readonly #wanted: ReadonlyMap<string, SheetRow>;
  readonly #settled = new Set<string>();
  readonly #changes = new Map<
    string,
    {
      row: number;
      values: Map<ColumnKey, SheetValue>;
      was: Map<ColumnKey, string>;
      restored: boolean;
    }
  >();

  constructor(sheet: FormSheet, encoder: RowEncoder, rows: readonly SheetRow[]) {
    this.#sheet = sheet;
    this.#encoder = encoder;
    this.#wanted = new Map(rows.map((row) => [row.id, row]));
  }

  /** Wanted rows that the sheet has and that were not compared yet. */
  open(): string[] {
    return [...this.#wanted.keys()].filter(
      (id) => !this.#settled.has(id) && this.#sheet.index?.get(id) !== undefined,
    );
  }

  /** What was found out so far is out of date. */
  forget(): void {
    this.#settled.clear();
    this.#changes.clear();
  }

  settleByFingerprint(): void {
    for (const [id, row] of this.#wanted) {
      if (this.#sheet.index?.fingerprint(id) === row.fingerprint) this.#settled.add(id);
    }
  }

  /** Takes a row that was read, if it is the one that counts for its submission. */
  compare(id: string, row: number, read: (key: ColumnKey) => ReadValue): void {
    const { index } = this.#sheet;
    // The copies that people make of a row are theirs.
    if (index?.placeOf(id) !== row) return;
    index.setFingerprint(id, this.#encoder.fingerprintOf(read));
    const wanted = this.#wanted.get(id);
    if (wanted === undefined || this.#settled.has(id)) return;
    this.#settled.add(id);
    const values = this.#encoder.differences(wanted, read);
    if (values.size === 0) return;
    const was = new Map([...values.keys()].map((key) => [key, idOf(read(key))]));
    this.#changes.set(id, { row, values, was, restored: index.get(id)?.removed ?? false });
  }

  result(index: RowIndex): Located {
    const layout = this.#sheet.usableLayout();
    const outcomes = new Map<string, RowOutcome>();
    const newRows: SheetRow[] = [];
    for (const [id, row] of this.#wanted) {
      const change = this.#changes.get(id);
      if (change !== undefined) outcomes.set(id, change.restored ? 'restored' : 'updated');
      else if (index.get(id) !== undefined) outcomes.set(id, 'unchanged');
      else {
        outcomes.set(id, 'inserted');
        newRows.push(row);
      }
    }
    const changes = [...this.#changes].map(([id, { row, values, was }]) => ({
      row,
      id,
      values: placed(values, layout),
      was: placed(was, layout),
      strict: false,
    }));
    return {
      changes: changes.sort((a, b) => a.row - b.row),
      newRows: newRows.sort(byTime),
      outcomes,
    };
  }
}

/** Values by the place of their column. */
export const placed = <T>(values: ReadonlyMap<ColumnKey, T>, layout: Layout): Map<number, T> =>
  new Map(
    [...values].flatMap(([key, value]) => {
      const column = layout.columns.get(key);
      return column === undefined ? [] : [[column.index, value] as const];
    }),
  );

/** Oldest first; those without a time last. Canonical times of different precision differ after their milliseconds only. */
function byTime(a: SheetRow, b: SheetRow): number {
  const [left, right] = [a.createdAt ?? '9999', b.createdAt ?? '9999'];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
