import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { Calculator } from '../../src/calculator.ts';
import { filledWidth, Formula } from '../../src/cell.ts';
import { metadataResource, type Metadata } from '../../src/metadata.ts';
import type { Overlays, Sheet } from '../../src/sheet.ts';
import type { SpreadsheetFiles } from '../../src/spreadsheet-files.ts';

/** A literal, a formula's text, or null for an empty cell. */
export type Stored = string | number | boolean | null;

/** See {@link Inspection.cell}. */
export interface InspectedCell {
  readonly value: Stored;
  readonly format: sheets_v4.Schema$CellFormat;
  readonly note: string | undefined;
}

/** See {@link Inspection.ranges}. */
export type InspectedRanges = Pick<
  Overlays,
  'basicFilter' | 'filterViews' | 'bandedRanges' | 'merges' | 'protectedRanges' | 'tables'
>;

/** A tab, by title or sheet ID. */
export type TabName = string | number;

/** Reads spreadsheets without the API: no quota, no log, no permission. */
export class Inspection {
  readonly #files: SpreadsheetFiles;
  readonly #now: () => number;

  constructor(files: SpreadsheetFiles, now: () => number) {
    this.#files = files;
    this.#now = now;
  }

  /** The tabs, in order. */
  tabs(spreadsheetId: string): { sheetId: number; title: string; rows: number; columns: number }[] {
    return this.#files.get(spreadsheetId).document.sheets.map((sheet) => ({
      sheetId: sheet.id,
      title: sheet.properties.title,
      rows: sheet.rowCount,
      columns: sheet.columnCount,
    }));
  }

  /** The content of the cells, row by row, without trailing empty cells and rows. Formulas are given as their text. */
  grid(spreadsheetId: string, tab: TabName): Stored[][] {
    const sheet = this.sheet(spreadsheetId, tab);
    return this.#rows(sheet, (row, column) => {
      const { content } = sheet.cell(row, column);
      return content instanceof Formula ? content.text : content;
    });
  }

  /** The displayed text of the cells. */
  shown(spreadsheetId: string, tab: TabName): string[][] {
    const sheet = this.sheet(spreadsheetId, tab);
    const calculator = new Calculator(this.#files.get(spreadsheetId).document, this.#now());
    return this.#rows(sheet, (row, column) => calculator.text(sheet, row, column));
  }

  /** Every note, zero-based. */
  notes(spreadsheetId: string, tab: TabName): { row: number; column: number; note: string }[] {
    const sheet = this.sheet(spreadsheetId, tab);
    const found: { row: number; column: number; note: string }[] = [];
    for (let row = 0; row < sheet.usedRows; row++) {
      for (const [column, cell] of (sheet.row(row)?.cells ?? []).entries())
        if (cell?.note !== undefined) found.push({ row, column, note: cell.note });
    }
    return found;
  }

  /** One cell, zero-based: its content, its format, its note. */
  cell(spreadsheetId: string, tab: TabName, row: number, column: number): InspectedCell {
    const sheet = this.sheet(spreadsheetId, tab);
    const { content, format = {}, note } = sheet.cell(row, column);
    return {
      value: content instanceof Formula ? content.text : content,
      format,
      note,
    };
  }

  /** The number of frozen rows. */
  frozenRows(spreadsheetId: string, tab: TabName): number {
    return this.sheet(spreadsheetId, tab).properties.frozenRowCount ?? 0;
  }

  /** Tables, filters, alternating colors, merged cells and protections of a tab. */
  ranges(spreadsheetId: string, tab: TabName): InspectedRanges {
    return this.sheet(spreadsheetId, tab).overlays;
  }

  /** All developer metadata, from all clients. */
  metadata(spreadsheetId: string): ReturnType<typeof metadataResource>[] {
    const list: readonly Metadata[] = this.#files.get(spreadsheetId).document.metadata;
    return list.map(metadataResource);
  }

  /** A tab, by title or sheet ID. */
  sheet(spreadsheetId: string, tab: TabName): Sheet {
    const { sheets } = this.#files.get(spreadsheetId).document;
    const found = sheets.find((one) => one.id === tab || one.properties.title === tab);
    if (found === undefined) throw new Error(`no tab ${tab}`);
    return found;
  }

  #rows<T>(sheet: Sheet, cell: (row: number, column: number) => T): T[][] {
    const rows: T[][] = [];
    for (let row = 0; row < sheet.contentEnd; row++) {
      const length = filledWidth(sheet.row(row)?.cells ?? []);
      rows.push(Array.from({ length }, (_, column) => cell(row, column)));
    }
    return rows;
  }
}
