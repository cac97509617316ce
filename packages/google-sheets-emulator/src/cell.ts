import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/** A formula as entered, with its `=`. */
export class Formula {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The content of a cell: nothing, a literal, or a formula. */
export type Content = string | number | boolean | Formula | null;

/** Content, format and note of one cell, never changed in place. */
export interface Cell {
  readonly content: Content;
  readonly format?: sheets_v4.Schema$CellFormat | undefined;
  readonly note?: string | undefined;
}

/** A cell without content. */
export const EMPTY_CELL: Cell = { content: null };

/** The cells of one row, by column; a missing one is empty. May be shorter than the grid is wide. */
export type Cells = readonly (Cell | undefined)[];

/** Size and visibility of a row or column; absent means the default. */
export interface DimensionProperties {
  readonly pixelSize?: number;
  readonly hiddenByFilter?: boolean;
  readonly hiddenByUser?: boolean;
}

/** One row, never changed in place: a failed batch drops its new rows, and the old ones still exist. */
export interface Row {
  readonly cells: Cells;
  readonly properties?: DimensionProperties | undefined;
}

/** The number of cells up to the last one with content: formats and notes do not count. */
export const filledWidth = (cells: Cells): number =>
  cells.findLastIndex((cell) => (cell?.content ?? null) !== null) + 1;
