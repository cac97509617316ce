import { STATUSES } from '../../../mirror/types.ts';
import type { ColumnKey } from '../api/metadata.ts';
import type { ReadValue } from '../api/cell-value.ts';
import { marksRemoved, type SheetRow } from './row-values.ts';
import { OWN_COLUMNS } from '../columns/field-catalogue.ts';
import type { Layout } from '../columns/layout.ts';
import {
  type ColumnsQuery,
  type ColumnsRead,
  foundIn,
  isHeaderGone,
  isSmall,
  readColumns,
} from './tab-reading.ts';
import type { SheetsApi } from '../api/sheets-api.ts';

/** The columns that show which submission a row holds, and whether it is a row of ours at all. */
const KEY_COLUMNS: readonly ColumnKey[] = ['s:id', 's:status', 's:removed'];

/** The key columns of a tab: of a small one with the times, so that a row whose status was cleared is known too. */
export const keyColumnsOf = (layout: Layout): readonly ColumnKey[] =>
  isSmall(layout) ? [...KEY_COLUMNS, 's:at'] : KEY_COLUMNS;

const headerOf = (wanted: ColumnKey): string =>
  OWN_COLUMNS.find(({ key }) => key === wanted)?.header ?? '';
const ID_HEADER = headerOf('s:id');
const STATUS_HEADER = headerOf('s:status');

/** One submission's row. */
export interface IndexedRow {
  readonly id: string;
  /** Place in the grid, from 0. */
  readonly row: number;
  /** Empty when people deleted the column, or cleared the cell. */
  readonly status: string;
  readonly removed: boolean;
}

/** A row that shows a submission and has lost its ID. */
interface RowWithoutId {
  readonly row: number;
  /** The row that shows the same submission again; undefined when that is not known. */
  again: number | undefined;
}

/**
 * Which row shows which submission: the key column of a tab in memory, with a fingerprint of each row's cells where they
 * were read (8 bytes a row). True for the moment of the read: people sort, insert and delete.
 */
export class RowIndex {
  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #rows: number[] = [];
  readonly #statuses: string[] = [];
  readonly #removed: boolean[] = [];
  readonly #prints: number[] = [];
  readonly #knownStatuses = new Map<string, string>();
  /** Rows that repeat an ID, in grid order. */
  readonly #copies: { id: string; row: number }[] = [];
  /** Rows with something in the ID cell only: remarks of people, or rows of ours that were emptied. */
  readonly #loose = new Map<string, number>();
  /** What else the ID cells of the tab hold, by row: headers, remarks, copies. */
  readonly #otherTexts = new Map<number, string>();
  readonly #withoutId: RowWithoutId[] = [];
  /** The same by their time; null where several have the same. */
  readonly #withoutIdAt = new Map<number, RowWithoutId | null>();
  /** Rows with the header's own texts. */
  readonly #headers: number[] = [];
  #removedCount = 0;
  #lastRow: number;
  /** True when people wrote something right below the last row, a total perhaps. */
  belowIsTaken = false;

  /** `lastRow`: the header's place, behind which rows begin; -1 without one. */
  constructor(lastRow = 0) {
    this.#lastRow = lastRow;
  }

  /**
   * Reads whole key columns. A row is ours when it has an ID and a status or a time (as far as these columns are there):
   * titles, totals and remarks that people write into the ID column are not. Of two rows with one ID the upper one counts.
   */
  static fromColumns(read: ColumnsRead): RowIndex {
    const ids = read.columns.get('s:id')?.values ?? [];
    const statuses = read.columns.get('s:status')?.values;
    const times = read.columns.get('s:at')?.values;
    const removed = read.columns.get('s:removed')?.values;
    const index = new RowIndex(read.header?.row ?? -1);
    for (let row = 0; row < ids.length; row++) {
      const id = idOf(ids[row]);
      if (id === '') continue;
      index.#otherTexts.set(row, id);
      const status = statuses === undefined ? '' : idOf(statuses[row]);
      const isHeader = id === ID_HEADER || status === STATUS_HEADER;
      if (isHeader && (statuses ?? times) !== undefined) index.#headers.push(row);
      if (id === ID_HEADER) continue;
      // Once the header is unfrozen, sorting may move it into the rows, and a submission into its place.
      const time = idOf(times?.[row]);
      const given = [id, status || time, time].map((text) => isGivenName(text));
      const isHead =
        isNamedRow(read, row) ||
        (given[0] && (given[1] || (statuses ?? times) === undefined)) === true ||
        (read.tableHeads?.has(row) === true && given.includes(true));
      const isRow = row !== read.header?.row && status !== STATUS_HEADER && !isHead;
      const isFilled = status !== '' || time !== '';
      if (isRow && (isFilled || (statuses === undefined && times === undefined))) {
        // Where it stands again below, an emptied row above was one of ours, and this is its copy.
        index.get(id);
        index.#put({ id, row, status, removed: marksRemoved(removed?.[row]) });
      } else if (!index.#loose.has(id)) index.#loose.set(id, row);
    }
    index.#findRowsWithoutId(read);
    const below = index.lastRow + 1;
    index.belowIsTaken = [...read.columns.values()].some(
      ({ values }) => idOf(values[below]) !== '',
    );
    return index;
  }

  /** Submissions with a row. */
  get size(): number {
    return this.#ids.length;
  }

  get removedCount(): number {
    return this.#removedCount;
  }

  /** The last row that holds a submission; the header's place when none does. New rows go below. */
  get lastRow(): number {
    return this.#lastRow;
  }

  /** Rows that people made by copying others. */
  get copies(): readonly { readonly id: string; readonly row: number }[] {
    return this.#copies;
  }

  /** Rows of ours whose ID people cleared, each with the row that shows its submission again, where that is known. */
  get withoutId(): readonly { readonly row: number; readonly again: number | undefined }[] {
    return this.#withoutId;
  }

  /**
   * True when the header row is deleted, or empty, or was deleted once it had been sorted into the rows: its mark is on a
   * submission's row then.
   */
  isHeaderGone(read: ColumnsRead): boolean {
    if (isHeaderGone(read)) return true;
    const { header, columns } = read;
    if (header === undefined || this.#headers.length > 0) return false;
    const isFilled = idOf(columns.get('s:id')?.values[header.row]) !== '';
    const status = idOf(columns.get('s:status')?.values[header.row]);
    const isDated = typeof columns.get('s:at')?.values[header.row] === 'number';
    return isFilled && (isDated || isStatus(status));
  }

  /** The one row with the header's own texts; undefined when there is none, or several. */
  get headerRow(): number | undefined {
    return this.#headers.length === 1 ? this.#headers[0] : undefined;
  }

  /** A header row that was sorted into the rows, and the first of these; undefined when it stands above them. */
  get strayHeader(): { readonly row: number; readonly top: number } | undefined {
    const [row, ...others] = this.#headers;
    if (row === undefined || others.length > 0) return undefined;
    const top = this.#rows.reduce((first, one) => Math.min(first, one), row);
    return top < row ? { row, top } : undefined;
  }

  /** The row of a submission whose ID the source knows: a row that lacks its status is taken for it too. */
  get(id: string): IndexedRow | undefined {
    const loose = this.#slots.has(id) ? undefined : this.#loose.get(id);
    if (loose !== undefined) this.#put({ id, row: loose, status: '', removed: false });
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#at(slot);
  }

  /** The place of a row that is certainly ours; undefined when there is none. */
  placeOf(id: string): number | undefined {
    return this.#rows[this.#slots.get(id) ?? -1];
  }

  /** The fingerprint of a submission's cells; undefined when they were not read. */
  fingerprint(id: string): number | undefined {
    const print = this.#prints[this.#slots.get(id) ?? -1];
    return print === undefined || Number.isNaN(print) ? undefined : print;
  }

  setFingerprint(id: string, print: number): void {
    const slot = this.#slots.get(id);
    if (slot !== undefined) this.#prints[slot] = print;
  }

  /** Notes what was written into a row. */
  update(id: string, change: { status?: string; removed?: boolean }): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    if (change.status !== undefined) this.#statuses[slot] = this.#intern(change.status);
    if (change.removed === undefined || change.removed === this.#removed[slot]) return;
    this.#removed[slot] = change.removed;
    this.#removedCount += change.removed ? 1 : -1;
  }

  /** Notes rows that a write changed: `rows` is what they hold now. */
  noteChanged(rows: Iterable<SheetRow>): void {
    for (const row of rows) {
      this.update(row.id, { status: statusOf(row), removed: false });
      this.setFingerprint(row.id, row.fingerprint);
    }
  }

  /** Notes rows that a write added below the last one. */
  noteAdded(rows: Iterable<SheetRow>): void {
    for (const row of rows) {
      const place = this.#lastRow + 1;
      this.#put({ id: row.id, row: place, status: statusOf(row), removed: false });
      this.#noteAgain(row.values.get('s:at'), place);
      this.setFingerprint(row.id, row.fingerprint);
    }
  }

  /** The only row that lost its ID and has this time, unless its submission stands elsewhere again; undefined when there is none. */
  lostRowAt(time: unknown): number | undefined {
    const lost = this.#withoutIdAt.get(timeKey(time) ?? Number.NaN);
    return lost === null || lost?.again !== undefined ? undefined : lost?.row;
  }

  /** Takes a row that lost its ID for the submission that it shows: its ID is about to be written. */
  reclaim(id: string, { row, status }: { readonly row: number; readonly status: string }): void {
    const place = this.#withoutId.findIndex((lost) => lost.row === row);
    const [lost] = place < 0 ? [] : this.#withoutId.splice(place, 1);
    if (lost === undefined) return;
    lost.again = row;
    this.#put({ id, row, status, removed: false });
  }

  /** What the ID cells of the tab held when it was read, by row; empty ones are missing. */
  idTexts(): Map<number, string> {
    const texts = new Map(this.#otherTexts);
    for (const [slot, id] of this.#ids.entries()) texts.set(this.#rows[slot] ?? -1, id);
    return texts;
  }

  /** Takes the fingerprints of another index of the same tab, read earlier: they belong to submissions, not to places. */
  adoptFingerprints(other: RowIndex): void {
    for (const [slot, id] of this.#ids.entries()) {
      const print = other.fingerprint(id);
      if (print !== undefined) this.#prints[slot] = print;
    }
  }

  /** All submissions, in grid order as read. */
  *[Symbol.iterator](): Generator<IndexedRow> {
    for (let slot = 0; slot < this.#ids.length; slot++) yield this.#at(slot);
  }

  /**
   * Rows that have no ID and still look like ours: with a status that others have, too, and a time, as far as these
   * columns are there. A status alone is not enough where the times were read: people write totals below columns. Where a table
   * had such a row for its head, a cleared ID is the name of a column, and the time a text.
   */
  #findRowsWithoutId(read: ColumnsRead): void {
    const [ids, statuses, times] = (['s:id', 's:status', 's:at'] as const).map(
      (key) => read.columns.get(key)?.values,
    );
    const height = Math.max(statuses?.length ?? 0, times?.length ?? 0);
    const header = this.headerRow ?? read.header?.row;
    for (let row = 0; row < height; row++) {
      const id = idOf(ids?.[row]);
      const isNamed = isNamedRow(read, row);
      if ((id !== '' && !isNamed) || row === header) continue;
      const status = idOf(statuses?.[row]);
      if (statuses !== undefined && !this.#knownStatuses.has(status) && !isStatus(status)) continue;
      const isDated = times === undefined || typeof times[row] === 'number';
      if (!isDated && !(isNamed && statuses !== undefined)) continue;
      const lost: RowWithoutId = { row, again: undefined };
      this.#withoutId.push(lost);
      const time = timeKey(times?.[row]);
      // A cell that is not empty is nobody's to be filled.
      if (time !== undefined && !isNamed)
        this.#withoutIdAt.set(time, this.#withoutIdAt.has(time) ? null : lost);
    }
    if (this.#withoutIdAt.size === 0) return;
    for (const row of this.#rows) this.#noteAgain(times?.[row], row);
  }

  /** Notes that a row shows a submission with this time: the only one that lost its ID and has the same one is found again. */
  #noteAgain(time: unknown, row: number): void {
    const lost = this.#withoutIdAt.get(timeKey(time) ?? Number.NaN);
    if (lost !== undefined && lost !== null) lost.again ??= row;
  }

  #at(slot: number): IndexedRow {
    return {
      id: this.#ids[slot] ?? '',
      row: this.#rows[slot] ?? 0,
      status: this.#statuses[slot] ?? '',
      removed: this.#removed[slot] ?? false,
    };
  }

  #put({ id, row, status, removed }: IndexedRow): void {
    this.#lastRow = Math.max(this.#lastRow, row);
    if (!this.#slots.has(id)) this.#otherTexts.delete(row);
    else {
      this.#copies.push({ id, row });
      return;
    }
    this.#slots.set(id, this.#ids.length);
    this.#ids.push(id);
    this.#rows.push(row);
    this.#statuses.push(this.#intern(status));
    this.#removed.push(removed);
    this.#prints.push(Number.NaN);
    if (removed) this.#removedCount++;
  }

  /** Each answer brings its own copies of the same few texts. */
  #intern(status: string): string {
    const known = this.#knownStatuses.get(status);
    if (known !== undefined) return known;
    if (this.#knownStatuses.size < 1_000) this.#knownStatuses.set(status, status);
    return status;
  }
}

/** Where a tab's columns and rows are, as a read found them. */
export interface TabReading {
  readonly layout: Layout;
  readonly index: RowIndex;
  /** True when the header row is deleted or empty; undefined when the read did not cover it. */
  readonly headerIsGone: boolean | undefined;
}

/**
 * Reads the key columns of a tab, and `rows` and the state tab in the same call. Fingerprints of `known`, an earlier index
 * of the tab, are kept. Throws SheetsError `moved` when a key column is gone.
 */
export async function readKeys(
  api: SheetsApi,
  layout: Layout,
  { known, ...also }: { readonly known?: RowIndex | undefined } & Omit<ColumnsQuery, 'keys'> = {},
): Promise<TabReading & Pick<ColumnsRead, 'rows' | 'stateTab' | 'areas'>> {
  const keys = keyColumnsOf(layout);
  const read = await readColumns(api, layout, { keys, ...also });
  const index = RowIndex.fromColumns(read);
  if (known !== undefined) index.adoptFingerprints(known);
  return {
    layout: foundIn(layout, keys, read),
    index,
    headerIsGone: index.isHeaderGone(read),
    rows: read.rows,
    stateTab: read.stateTab,
    areas: read.areas,
  };
}

/**
 * True where a table gave blank cells of a row names, and the ID is such a name: it was cleared. An ID may look like one: then
 * the cell that shows removals, blank or a time, is none.
 */
function isNamedRow({ columns }: ColumnsRead, row: number): boolean {
  const names = (['s:id', 's:removed'] as const).map((key) => columns.get(key)?.values[row]);
  return names.every((cell) => isGivenName(idOf(cell)));
}

/** True for the name that Sheets gives a column of a table whose header cell is empty: "Column 1", in any language; "Column 1 2". */
export const isGivenName = (text: string): boolean => /^\p{L}[\p{L} ]*( \d+)+$/u.test(text);

const isStatus = (text: string): boolean => (STATUSES as readonly string[]).includes(text);

/** A time to the millisecond; undefined for texts and blanks. */
const timeKey = (value: unknown): number | undefined =>
  typeof value === 'number' ? Math.round(value * 86_400_000) : undefined;

const statusOf = (row: SheetRow): string => String(row.values.get('s:status') ?? '');

/** An ID as text: people turn texts of digits into numbers. */
export const idOf = (read: ReadValue): string =>
  read === undefined || read === null ? '' : String(read);
