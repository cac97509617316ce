import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { formatA1, type Bounds } from './a1.ts';
import { exceedsGrid } from './api-error.ts';
import {
  EMPTY_CELL,
  filledWidth,
  type Cell,
  type Cells,
  type DimensionProperties,
  type Row,
} from './cell.ts';

/** A tab's properties without its ID, index and grid size. */
export interface SheetProperties {
  readonly title: string;
  readonly hidden?: boolean;
  readonly frozenRowCount?: number;
  readonly hideGridlines?: boolean;
}

/** A rectangle of a grid: zero-based, half-open, all bounds known. */
export interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** True if two areas share a cell, or an insertion (an area of no height or width) is inside the other. */
export const meets = (a: Area, b: Area): boolean =>
  a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;

/** The cells of a range, regardless of the size of its tab: open ends reach to infinity. */
export const cellsOf = (range: sheets_v4.Schema$GridRange | undefined): Area => ({
  top: range?.startRowIndex ?? 0,
  bottom: range?.endRowIndex ?? Infinity,
  left: range?.startColumnIndex ?? 0,
  right: range?.endColumnIndex ?? Infinity,
});

/** A table that people make of a range: a header row and rows below it, without types and footers. */
export interface Table extends sheets_v4.Schema$Table {
  tableId: string;
  /** With all four bounds. */
  range: sheets_v4.Schema$GridRange;
}

/** Objects on ranges of a tab: they move with its rows and columns. Lists are replaced, never changed in place. */
export interface Overlays {
  readonly merges: readonly sheets_v4.Schema$GridRange[];
  readonly protectedRanges: readonly sheets_v4.Schema$ProtectedRange[];
  readonly basicFilter: sheets_v4.Schema$BasicFilter | undefined;
  /** Filters that each person enables for themselves: they hide nothing here. */
  readonly filterViews: readonly sheets_v4.Schema$FilterView[];
  readonly conditionalFormats: readonly sheets_v4.Schema$ConditionalFormatRule[];
  /** Alternating colors, except for those of tables. */
  readonly bandedRanges: readonly sheets_v4.Schema$BandedRange[];
  readonly tables: readonly Table[];
}

const NO_OVERLAYS: Overlays = {
  merges: [],
  protectedRanges: [],
  basicFilter: undefined,
  filterViews: [],
  conditionalFormats: [],
  bandedRanges: [],
  tables: [],
};

/**
 * One tab. Rows are immutable, so a copy for a batch ({@link fork}) shares them and copies only the list of pointers,
 * on the first write: dropping the copy is the rollback.
 */
export class Sheet {
  readonly id: number;
  properties: SheetProperties;
  rowCount: number;
  columnCount: number;
  overlays: Overlays = NO_OVERLAYS;
  /** Charts on the tab; their data may be on other tabs. The list is replaced, never changed in place. */
  charts: readonly sheets_v4.Schema$EmbeddedChart[] = [];
  /** True once a cell had a formula: only then structural changes look for references to rewrite. */
  mayHoldFormulas = false;
  #rows: (Row | undefined)[] = [];
  #columns: readonly (DimensionProperties | undefined)[] = [];
  #shared = false;

  constructor(id: number, properties: SheetProperties, rowCount: number, columnCount: number) {
    this.id = id;
    this.properties = properties;
    this.rowCount = rowCount;
    this.columnCount = columnCount;
  }

  /** A copy that shares everything until one of the two is written to. */
  fork(): Sheet {
    const copy = new Sheet(this.id, this.properties, this.rowCount, this.columnCount);
    copy.overlays = this.overlays;
    copy.charts = this.charts;
    copy.mayHoldFormulas = this.mayHoldFormulas;
    copy.#rows = this.#rows;
    copy.#columns = this.#columns;
    copy.#shared = true;
    this.#shared = true;
    return copy;
  }

  get cellCount(): number {
    return this.rowCount * this.columnCount;
  }

  /** The whole grid. */
  get area(): Area {
    return { top: 0, bottom: this.rowCount, left: 0, right: this.columnCount };
  }

  /** The number of stored rows: all below are empty and plain. */
  get usedRows(): number {
    return this.#rows.length;
  }

  row(index: number): Row | undefined {
    return this.#rows[index];
  }

  cell(row: number, column: number): Cell {
    return this.#rows[row]?.cells[column] ?? EMPTY_CELL;
  }

  /** The index after the last row with content; 0 for an empty tab. */
  get contentEnd(): number {
    let end = this.#rows.length;
    while (end > 0 && filledWidth(this.#rows[end - 1]?.cells ?? []) === 0) end--;
    return end;
  }

  setRow(index: number, row: Row | undefined): void {
    const rows = this.#own();
    while (rows.length < index) rows.push(undefined);
    rows[index] = row;
  }

  /** Rewrites cells of one row. */
  editRow(index: number, change: (cells: (Cell | undefined)[]) => void): void {
    const cells = [...(this.#rows[index]?.cells ?? [])];
    change(cells);
    this.setRow(index, { ...this.#rows[index], cells });
  }

  columnProperties(index: number): DimensionProperties | undefined {
    return this.#columns[index];
  }

  setColumnProperties(index: number, properties: DimensionProperties | undefined): void {
    const columns = [...this.#columns];
    while (columns.length < index) columns.push(undefined);
    columns[index] = properties;
    this.#columns = columns;
  }

  setRowProperties(index: number, properties: DimensionProperties | undefined): void {
    if (properties === undefined && this.#rows[index] === undefined) return;
    this.setRow(index, { cells: [], ...this.#rows[index], properties });
  }

  /**
   * Puts `rows` (undefined for empty ones) in place of `removed` rows at `at`; the grid grows or shrinks accordingly.
   */
  spliceRows(at: number, removed: number, rows: readonly (Row | undefined)[]): void {
    const old = this.#own();
    this.rowCount += rows.length - removed;
    if (at >= old.length && rows.every((row) => row === undefined)) return;
    while (old.length < at) old.push(undefined);
    // Not splice(...rows): a spread of 200,000 arguments overflows the stack.
    this.#rows = [...old.slice(0, at), ...rows, ...old.slice(at + removed)];
  }

  /** The rows from `start` up to `end`, undefined for empty ones. */
  rows(start: number, end: number): (Row | undefined)[] {
    return Array.from({ length: end - start }, (_, offset) => this.#rows[start + offset]);
  }

  /** Replaces the cells of every stored row and the columns' properties: for changes of the columns. */
  rebuildColumns(
    columnCount: number,
    ofRow: (cells: Cells) => Cells,
    ofProperties: (
      columns: readonly (DimensionProperties | undefined)[],
    ) => readonly (DimensionProperties | undefined)[],
  ): void {
    this.#rows = this.#rows.map((row) => row && { ...row, cells: ofRow(row.cells) });
    this.#shared = false;
    this.#columns = ofProperties(this.#columns);
    this.columnCount = columnCount;
  }

  /** The rectangle of `bounds`, with open sides closed by the grid. Throws Google's text if it exceeds the grid. */
  areaOf(bounds: Bounds): Area {
    const { rowCount, columnCount } = this;
    const area = {
      top: bounds.startRowIndex ?? 0,
      bottom: bounds.endRowIndex ?? rowCount,
      left: bounds.startColumnIndex ?? 0,
      right: bounds.endColumnIndex ?? columnCount,
    };
    const inside = area.bottom <= rowCount && area.right <= columnCount;
    const started = area.top < rowCount && area.left < columnCount;
    if (!inside || !started) {
      const shown = {
        ...area,
        bottom: Math.max(area.bottom, area.top + 1),
        right: Math.max(area.right, area.left + 1),
      };
      throw exceedsGrid(formatA1(this.properties.title, shown), rowCount, columnCount);
    }
    return area;
  }

  #own(): (Row | undefined)[] {
    if (this.#shared) {
      this.#rows = [...this.#rows];
      this.#shared = false;
    }
    return this.#rows;
  }
}
