import type { RowOutcome } from '../../../mirror/target.ts';
import { spansOf } from '../api/a1.ts';
import { browserAddress } from '../api/address.ts';
import type { ReadValue, SheetValue } from '../api/cell-value.ts';
import type { ColumnKey } from '../api/metadata.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import { movedError } from '../api/sheets-error.ts';
import { type Layout, SPARE_ROWS } from '../columns/layout.ts';
import { idOf, readKeys, RowIndex, type TabReading } from './row-index.ts';
import type { RowEncoder, SheetRow } from './row-values.ts';
import {
  CELLS_A_READ,
  type ColumnsQuery,
  type ColumnsRead,
  foundIn,
  isSmall,
  readColumns,
  readRows,
  type RowsRead,
} from './tab-reading.ts';

/** A batch this large is compared by reading the tab from end to end rather than row by row. */
const MANY_ROWS = 1_000;
/** How often rows that moved while they were read are looked up again. */
const ROUNDS = 3;

/** Cells to write into a row that exists. */
export interface RowChange {
  /** Place in the grid as last read. */
  readonly row: number;
  /** What its ID cell held then: the submission, a header, or nothing. */
  readonly id: string;
  /** By column of the grid. */
  readonly values: ReadonlyMap<number, SheetValue>;
  /** What the cells held when they were read, as texts. */
  readonly was: ReadonlyMap<number, string>;
  /** True when they must have held it at the moment of the write, too; else the change is taken back. */
  readonly strict: boolean;
}

/** What a batch would change, as the sheet was a moment ago, and what was learnt about the tab on the way. */
export interface ComparedRows {
  /** In grid order. */
  readonly changes: readonly RowChange[];
  /** Rows that the sheet lacks, oldest first. */
  readonly newRows: readonly SheetRow[];
  readonly outcomes: ReadonlyMap<string, RowOutcome>;
  /** Undefined when nothing had to be read but single rows. */
  readonly reading: TabReading | undefined;
}

/** A first look at a tab: which row shows which submission, and as much of the rows as the same read may answer. */
export interface FirstLook extends TabReading {
  /** Rows that came along by their place; of a small tab all cells, as columns. */
  readonly rows: RowsRead;
  readonly whole: ColumnsRead | undefined;
  /** The cells of the state tab, when it was asked for. */
  readonly stateTab: ColumnsRead['stateTab'];
  readonly areas: ColumnsRead['areas'];
}

/**
 * Looks at a tab that was not read before, in one read: the whole of a small one; of a large one the key columns and the
 * newest rows. What is asked for besides comes along. Throws SheetsError `moved` when columns are gone.
 */
export async function lookAt(
  api: SheetsApi,
  layout: Layout,
  also: Pick<ColumnsQuery, 'stateSheetId' | 'areas'> = {},
): Promise<FirstLook> {
  if (!isSmall(layout)) {
    // A small batch is mostly about the newest rows, and these mostly stand at the end: they come along in the same read.
    const end = layout.rowCount;
    const tail = { start: Math.max(0, end - SPARE_ROWS - MANY_ROWS), end };
    return { ...(await readKeys(api, layout, { rows: tail, ...also })), whole: undefined };
  }
  const keys = [...layout.columns.keys()];
  const whole = await readColumns(api, layout, { keys, ...also });
  const index = RowIndex.fromColumns(whole);
  return {
    layout: foundIn(layout, keys, whole),
    index,
    headerIsGone: index.isHeaderGone(whole),
    rows: new Map(),
    whole,
    stateTab: whole.stateTab,
    areas: whole.areas,
  };
}

/**
 * Compares rows with what the sheet holds, in as few reads as the tab's size allows. A tab of up to 300,000 cells is read
 * whole, at one instant. Of a larger one the key columns are read at one instant, and then either the rows in question,
 * or, for large batches, every row once, remembered as a fingerprint of 8 bytes (L14). Without an `index` nothing of the
 * tab is known yet; a `look` that was taken just now saves the first read. Throws SheetsError `moved` when columns are gone or rows keep moving.
 */
export async function compareRows(
  api: SheetsApi,
  tab: {
    readonly layout: Layout;
    readonly index: RowIndex | undefined;
    readonly look?: FirstLook | undefined;
  },
  encoder: RowEncoder,
  rows: readonly SheetRow[],
): Promise<ComparedRows> {
  if (rows.length === 0) {
    return { changes: [], newRows: [], outcomes: new Map(), reading: undefined };
  }
  const comparison = new Comparison(api, tab.layout, encoder, rows);
  if (tab.look !== undefined) await comparison.begin(tab.look);
  else if (tab.index === undefined) await comparison.begin(undefined);
  else await comparison.resume(tab.index);
  return comparison.result();
}

/** The wanted rows, and what has been found out about them so far. */
class Comparison {
  readonly #api: SheetsApi;
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
      /** True when the row has lost its ID, which is among the values. */
      reclaimed?: boolean;
    }
  >();
  #layout: Layout;
  #index = new RowIndex();
  #reading: TabReading | undefined;

  constructor(api: SheetsApi, layout: Layout, encoder: RowEncoder, rows: readonly SheetRow[]) {
    this.#api = api;
    this.#layout = layout;
    this.#encoder = encoder;
    this.#wanted = new Map(rows.map((row) => [row.id, row]));
  }

  /** Compares with a tab of which no more is known than `look`. */
  async begin(look: FirstLook | undefined): Promise<void> {
    const isMany = this.#wanted.size >= MANY_ROWS;
    if (look === undefined && isMany && !isSmall(this.#layout)) {
      this.#take(await readKeys(this.#api, this.#layout));
      await this.#readAll();
      return;
    }
    const first = look ?? (await lookAt(this.#api, this.#layout));
    if (first.whole !== undefined) {
      this.#compareWhole(first, first.whole);
      return;
    }
    this.#take(first);
    this.#comparePlaced(first.rows);
    if (isMany) await this.#readAll();
    else await this.#readSome();
  }

  /** Compares with a tab whose rows are known; those whose fingerprints match are not read again. */
  async resume(index: RowIndex): Promise<void> {
    this.#index = index;
    for (const [id, row] of this.#wanted) {
      if (index.fingerprint(id) === row.fingerprint) this.#settled.add(id);
    }
    if (this.#open().length === 0) return;
    if (isSmall(this.#layout)) await this.#readWhole();
    else await this.#readSome();
  }

  result(): ComparedRows {
    const outcomes = new Map<string, RowOutcome>();
    const newRows: SheetRow[] = [];
    for (const [id, row] of this.#wanted) {
      const change = this.#changes.get(id);
      if (change !== undefined) outcomes.set(id, change.restored ? 'restored' : 'updated');
      else if (this.#index.get(id) !== undefined) outcomes.set(id, 'unchanged');
      else {
        outcomes.set(id, 'inserted');
        newRows.push(row);
      }
    }
    const layout = this.#layout;
    const changes = [...this.#changes].map(([id, { row, values, was, reclaimed = false }]) => ({
      row,
      id: reclaimed ? '' : id,
      values: placed(values, layout),
      was: placed(was, layout),
      strict: reclaimed,
    }));
    return {
      changes: changes.sort((a, b) => a.row - b.row),
      newRows: newRows.sort(byTime),
      outcomes,
      reading: this.#reading,
    };
  }

  #take(reading: TabReading): void {
    this.#layout = reading.layout;
    this.#index = reading.index;
    this.#reading = reading;
  }

  /** Wanted rows that the sheet has and that were not compared yet. */
  #open(): string[] {
    return [...this.#wanted.keys()].filter(
      (id) => !this.#settled.has(id) && this.#index.get(id) !== undefined,
    );
  }

  async #readWhole(): Promise<void> {
    const look = await lookAt(this.#api, this.#layout);
    if (look.whole !== undefined) this.#compareWhole(look, look.whole);
  }

  #compareWhole(reading: TabReading, read: ColumnsRead): void {
    this.#take(reading);
    this.#settled.clear();
    this.#changes.clear();
    // Asking the index for a wanted row claims it as ours even where its status was cleared.
    this.#open();
    for (const { id, row } of this.#index) {
      this.#compare(id, row, (key) => read.columns.get(key)?.values[row]);
    }
    for (const row of this.#wanted.values()) {
      if (this.#index.get(row.id) === undefined) this.#reclaim(row, read);
    }
  }

  /** A row whose ID was cleared gets it back when it shows what the submission has: its time, and every answer. */
  #reclaim(wanted: SheetRow, read: ColumnsRead): void {
    const row = this.#index.lostRowAt(wanted.values.get('s:at'));
    if (row === undefined) return;
    const readAt = (key: ColumnKey): ReadValue => read.columns.get(key)?.values[row];
    const values = this.#encoder.differences(wanted, readAt);
    if ([...values.keys()].some((key) => key !== 's:status')) return;
    values.set('s:id', wanted.id);
    const was = new Map([...values.keys()].map((key) => [key, idOf(readAt(key))]));
    this.#index.reclaim(wanted.id, { row, status: String(wanted.values.get('s:status') ?? '') });
    this.#changes.set(wanted.id, { row, values, was, restored: false, reclaimed: true });
  }

  /** Every row of a large tab, in pieces. */
  async #readAll(): Promise<void> {
    const rowsARead = Math.max(
      1,
      Math.floor(CELLS_A_READ / Math.max(1, this.#layout.columns.size)),
    );
    const last = this.#index.lastRow;
    for (let start = 0; start <= last; start += rowsARead) {
      const end = Math.min(last + 1, start + rowsARead);
      this.#comparePlaced(await readRows(this.#api, this.#layout, [{ start, end }]));
    }
    // Rows that moved between two pieces are looked up by themselves.
    await this.#readSome();
  }

  /** The rows not compared yet. Where another submission stands by now, the key columns are read again. */
  async #readSome(): Promise<void> {
    for (let round = 0, wanted = this.#open(); wanted.length > 0; round++, wanted = this.#open()) {
      if (round === ROUNDS) throw movedError(browserAddress(this.#api.spreadsheetId));
      if (round > 0) this.#take(await readKeys(this.#api, this.#layout, { known: this.#index }));
      const places = wanted.flatMap((id) => this.#index.get(id)?.row ?? []).sort((a, b) => a - b);
      if (places.length === 0) return;
      this.#comparePlaced(await readRows(this.#api, this.#layout, spansOf(places, 8)));
    }
  }

  #comparePlaced(read: RowsRead): void {
    const { columns } = this.#layout;
    const idColumn = columns.get('s:id')?.index ?? 0;
    for (const [row, cells] of read) {
      const valueOf = (key: ColumnKey): ReadValue => cells[columns.get(key)?.index ?? -1];
      this.#compare(idOf(cells[idColumn]), row, valueOf);
    }
  }

  /** Compares a row that was read, if it is the one that counts for its submission. */
  #compare(id: string, row: number, read: (key: ColumnKey) => ReadValue): void {
    // Copies that people made of a row are theirs.
    if (this.#index.placeOf(id) !== row) return;
    this.#index.setFingerprint(id, this.#encoder.fingerprintOf(read));
    const wanted = this.#wanted.get(id);
    if (wanted === undefined || this.#settled.has(id)) return;
    this.#settled.add(id);
    const values = this.#encoder.differences(wanted, read);
    if (values.size === 0) return;
    const was = new Map([...values.keys()].map((key) => [key, idOf(read(key))]));
    const restored = this.#index.get(id)?.removed ?? false;
    this.#changes.set(id, { row, values, was, restored });
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

/** Oldest first, those without a time last. Canonical times of different precision differ after their milliseconds only. */
function byTime(a: SheetRow, b: SheetRow): number {
  const [left, right] = [a.createdAt ?? '9999', b.createdAt ?? '9999'];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
