import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/** A formula as entered, with its `=`. */
export class Formula {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a cell holds: nothing, a literal, or a formula. */
export type Content = string | number | boolean | Formula | null;

/** Everything of a cell that repeats from cell to cell: shared, never changed in place. */
export interface CellStyle {
  readonly format?: sheets_v4.Schema$CellFormat;
}

/**
 * The cell styles of one row. Equal rows share one object: {@link with} returns the same successor for the same step, so
 * 200,000 rows with a date format in one column cost one list.
 */
export class RowStyle {
  readonly cellStyles: readonly (CellStyle | undefined)[];
  readonly #next = new Map<number, Map<CellStyle | undefined, RowStyle>>();

  constructor(cellStyles: readonly (CellStyle | undefined)[] = []) {
    this.cellStyles = cellStyles;
  }

  /** This style with another cell style in one column. */
  with(column: number, cellStyle: CellStyle | undefined): RowStyle {
    if (this.cellStyles[column] === cellStyle) return this;
    const steps = this.#next.get(column) ?? new Map<CellStyle | undefined, RowStyle>();
    this.#next.set(column, steps);
    const known = steps.get(cellStyle);
    if (known !== undefined) return known;
    const cellStyles = [...this.cellStyles];
    while (cellStyles.length < column) cellStyles.push(undefined);
    cellStyles[column] = cellStyle;
    const style = new RowStyle(cellStyles);
    steps.set(cellStyle, style);
    return style;
  }
}

/** Size and visibility of a row or column; absent means the default. */
export interface DimensionProperties {
  readonly pixelSize?: number;
  readonly hiddenByFilter?: boolean;
}

/** One row, never changed in place: a batch that fails drops its new rows, and the old ones are still there. */
export interface Row {
  /** By column; may be shorter than the grid is wide. */
  readonly cells: readonly Content[];
  readonly style: RowStyle;
  /** Notes by column; undefined when there are none. */
  readonly notes: ReadonlyMap<number, string> | undefined;
  readonly properties: DimensionProperties | undefined;
}

/** The style of a row without formats. */
export const PLAIN_STYLE = new RowStyle();

/** A row with nothing in it. */
export const EMPTY_ROW: Row = {
  cells: [],
  style: PLAIN_STYLE,
  notes: undefined,
  properties: undefined,
};

/** Content, style and note of one cell. */
export interface Cell {
  readonly content: Content;
  readonly cellStyle: CellStyle | undefined;
  readonly note: string | undefined;
}

/** A cell without content and format. */
export const EMPTY_CELL: Cell = { content: null, cellStyle: undefined, note: undefined };

/** The cell of `row` in `column`. */
export function cellAt(row: Row | undefined, column: number): Cell {
  if (row === undefined) return EMPTY_CELL;
  return {
    content: row.cells[column] ?? null,
    cellStyle: row.style.cellStyles[column],
    note: row.notes?.get(column),
  };
}

/** A row being rewritten; {@link done} gives the new immutable one. */
export class RowEdit {
  readonly #row: Row;
  #cells: Content[] | undefined;
  #style: RowStyle;
  #notes: Map<number, string> | undefined;
  #properties: DimensionProperties | undefined;

  constructor(row: Row | undefined) {
    this.#row = row ?? EMPTY_ROW;
    this.#style = this.#row.style;
    this.#properties = this.#row.properties;
  }

  content(column: number, content: Content): void {
    this.#cells ??= [...this.#row.cells];
    while (this.#cells.length < column) this.#cells.push(null);
    this.#cells[column] = content === '' ? null : content;
  }

  cellStyle(column: number, cellStyle: CellStyle | undefined): void {
    this.#style = this.#style.with(column, cellStyle);
  }

  note(column: number, note: string | undefined): void {
    this.#notes ??= new Map(this.#row.notes);
    if (note === undefined || note === '') this.#notes.delete(column);
    else this.#notes.set(column, note);
  }

  properties(properties: DimensionProperties | undefined): void {
    this.#properties = properties;
  }

  /** Replaces all of one cell. */
  cell(column: number, cell: Cell): void {
    if ((this.#cells ?? this.#row.cells)[column] !== cell.content)
      this.content(column, cell.content);
    this.cellStyle(column, cell.cellStyle);
    if ((this.#notes ?? this.#row.notes)?.get(column) !== cell.note) this.note(column, cell.note);
  }

  done(): Row {
    const notes = this.#notes ?? this.#row.notes;
    return {
      cells: this.#cells ?? this.#row.cells,
      style: this.#style,
      notes: notes !== undefined && notes.size > 0 ? notes : undefined,
      properties: this.#properties,
    };
  }
}

/** True for a row without content: formats, notes and size don't count. */
export const isBlank = (row: Row | undefined): boolean =>
  row === undefined || row.cells.every((content) => content === null || content === undefined);
