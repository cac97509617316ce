import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { runBatch } from '../../src/batch-update.ts';
import { filledWidth } from '../../src/cell.ts';
import { appendDimension } from '../../src/dimensions.ts';
import { contentOf, guard, putContent, type Edit } from '../../src/edit.ts';
import type { Sheet } from '../../src/sheet.ts';
import type { SpreadsheetFile, SpreadsheetFiles } from '../../src/spreadsheet-files.ts';

/** Values that can be pasted into a cell. */
export type Pasted = string | number | boolean | null;

type Requests = sheets_v4.Schema$Request;

/** Rows and columns as a person selects them: zero-based, half-open. Absent bounds are the whole tab's. */
export interface Selection {
  readonly top?: number;
  readonly bottom?: number;
  readonly left?: number;
  readonly right?: number;
}

/** The owner of a file, with a tab open in a browser. Each action is one change, at once; none is logged. */
export class Person {
  readonly #files: SpreadsheetFiles;
  readonly #spreadsheetId: string;
  readonly #sheetId: number;

  constructor(files: SpreadsheetFiles, spreadsheetId: string, sheetId: number) {
    [this.#files, this.#spreadsheetId, this.#sheetId] = [files, spreadsheetId, sheetId];
  }

  /** Data › Sort sheet: all columns, all rows below the frozen ones. Without frozen rows the header is sorted, too. */
  sortSheet(column: number, order: 'ASCENDING' | 'DESCENDING' = 'ASCENDING'): void {
    const top = this.#sheet.properties.frozenRowCount ?? 0;
    this.sortRange({ top }, [{ column, order }]);
  }

  /** Data › Sort range. */
  sortRange(
    selection: Selection,
    by: readonly { column: number; order?: 'ASCENDING' | 'DESCENDING' }[],
  ): void {
    const sortSpecs = by.map(({ column, order }) => ({
      dimensionIndex: column,
      sortOrder: order ?? 'ASCENDING',
    }));
    this.#do({ sortRange: { range: this.#range(selection), sortSpecs } });
  }

  /** Data › Create a filter for all cells with content, with some values of one column deselected. */
  filter(column: number, hiddenValues: readonly string[]): void {
    this.#do({ setBasicFilter: { filter: this.#filterOf(column, hiddenValues) } });
  }

  /** Data › Create filter view, for the same cells: other people see no difference. */
  addFilterView(column: number, hiddenValues: readonly string[]): void {
    const filter = { title: 'My view', ...this.#filterOf(column, hiddenValues) };
    this.#do({ addFilterView: { filter } });
  }

  #filterOf(column: number, hiddenValues: readonly string[]): sheets_v4.Schema$BasicFilter {
    const sheet = this.#sheet;
    const header = Math.max(0, (sheet.properties.frozenRowCount ?? 1) - 1);
    const range = this.#range({ top: header, bottom: Math.max(sheet.contentEnd, header + 1) });
    return { range, criteria: { [String(column)]: { hiddenValues: [...hiddenValues] } } };
  }

  /** Format › Convert to table, for all cells with content. */
  convertToTable(): void {
    const sheet = this.#sheet;
    const top = Math.max(0, (sheet.properties.frozenRowCount ?? 1) - 1);
    const right = filledWidth(sheet.row(top)?.cells ?? []);
    const range = this.#range({ top, bottom: Math.max(sheet.contentEnd, top + 1), left: 0, right });
    // Sheets removes the filter for that.
    this.#do({ clearBasicFilter: { sheetId: this.#sheetId } }, { addTable: { table: { range } } });
  }

  /** Format › Alternating colors. */
  band(selection: Selection): void {
    const rowProperties = { firstBandColor: { red: 1 }, secondBandColor: { blue: 1 } };
    this.#do({ addBanding: { bandedRange: { range: this.#range(selection), rowProperties } } });
  }

  /** Drags columns before the column that is at `destination` now. */
  moveColumns(start: number, count: number, destination: number): void {
    this.#move('COLUMNS', start, count, destination);
  }

  /** Drags rows before the row that is at `destination` now. */
  moveRows(start: number, count: number, destination: number): void {
    this.#move('ROWS', start, count, destination);
  }

  /** Inserts empty columns with the format of the one on the left, or of the one on the right at the edge. */
  insertColumns(at: number, count = 1): void {
    this.#insert('COLUMNS', at, count);
  }

  /** Inserts empty rows above `at`. */
  insertRows(at: number, count = 1): void {
    this.#insert('ROWS', at, count);
  }

  deleteColumns(start: number, count = 1): void {
    this.#do({ deleteDimension: { range: this.#span('COLUMNS', start, count) } });
  }

  deleteRows(start: number, count = 1): void {
    this.#do({ deleteDimension: { range: this.#span('ROWS', start, count) } });
  }

  /** Inserts a row below `row` and pastes a copy of it there, with all its content. */
  duplicateRow(row: number): void {
    this.#insert('ROWS', row + 1, 1);
    this.#change(({ document }) => {
      const sheet = document.grid(this.#sheetId);
      sheet.setRow(row + 1, sheet.row(row));
    });
  }

  /** Types into a cell: `=A1+1`, `5`, text. An empty text clears it. */
  type(row: number, column: number, text: string): void {
    this.#change((edit) => {
      const sheet = edit.document.grid(this.#sheetId);
      const [endRowIndex, endColumnIndex] = [row + 1, column + 1];
      const cell = { startRowIndex: row, endRowIndex, startColumnIndex: column, endColumnIndex };
      guard(edit, sheet, sheet.areaOf(cell));
      const number = text === '' ? Number.NaN : Number(text);
      const content = text.startsWith('=')
        ? contentOf({ formulaValue: text })
        : Number.isNaN(number)
          ? text
          : number;
      sheet.editRow(row, (line) => putContent(sheet, line, column, content));
    });
  }

  /**
   * Pastes a block of plain values: numbers stay numbers, texts stay texts, null does not change a cell. The grid grows downward.
   */
  pasteValues(row: number, column: number, values: readonly (readonly Pasted[])[]): void {
    this.#change((edit) => {
      const sheet = edit.document.grid(this.#sheetId);
      const width = values.reduce((most, line) => Math.max(most, line.length), 0);
      const area = { top: row, bottom: row + values.length, left: column, right: column + width };
      const missing = area.bottom - sheet.rowCount;
      if (missing > 0) appendDimension(edit.document, sheet, 'ROWS', missing);
      guard(edit, sheet, area);
      for (const [line, contents] of values.entries())
        sheet.editRow(row + line, (edited) => {
          for (const [at, content] of contents.entries())
            if (content !== null) putContent(sheet, edited, column + at, content);
        });
    });
  }

  /** Insert › Note; an empty text removes it. */
  note(row: number, column: number, text: string): void {
    const start = { sheetId: this.#sheetId, rowIndex: row, columnIndex: column };
    this.#do({ updateCells: { start, rows: [{ values: [{ note: text }] }], fields: 'note' } });
  }

  /** Formats cells: bold, colors, number formats. */
  format(selection: Selection, format: sheets_v4.Schema$CellFormat): void {
    const fields = Object.keys(format).map((name) => `userEnteredFormat.${name}`);
    const cell = { userEnteredFormat: format };
    this.#do({ repeatCell: { range: this.#range(selection), cell, fields: fields.join() } });
  }

  freezeRows(frozenRowCount: number): void {
    this.#properties({ gridProperties: { frozenRowCount } }, 'gridProperties.frozenRowCount');
  }

  /** Data › Protect range. Without `warningOnly` only the person may edit it from now on. Returns its ID. */
  protect(selection: Selection, { warningOnly = false } = {}): number {
    const protectedRange = { range: this.#range(selection), ...(warningOnly && { warningOnly }) };
    const [reply] = this.#do({ addProtectedRange: { protectedRange } });
    return reply?.addProtectedRange?.protectedRange?.protectedRangeId ?? 0;
  }

  unprotect(protectedRangeId: number): void {
    this.#do({ deleteProtectedRange: { protectedRangeId } });
  }

  /** Merges cells; only the top left one keeps its content. */
  merge(selection: Selection): void {
    this.#do({ mergeCells: { range: this.#range(selection), mergeType: 'MERGE_ALL' } });
  }

  /** File › Settings. */
  setTimeZone(timeZone: string): void {
    this.#change(({ document }) => {
      document.properties = { ...document.properties, timeZone };
    });
  }

  renameTab(title: string): void {
    this.#properties({ title }, 'title');
  }

  deleteTab(): void {
    this.#do({ deleteSheet: { sheetId: this.#sheetId } });
  }

  get #file(): SpreadsheetFile {
    return this.#files.get(this.#spreadsheetId);
  }

  get #sheet(): Sheet {
    return this.#file.document.grid(this.#sheetId);
  }

  #range({ top, bottom, left, right }: Selection): sheets_v4.Schema$GridRange {
    return {
      sheetId: this.#sheetId,
      ...(top !== undefined && { startRowIndex: top }),
      ...(bottom !== undefined && { endRowIndex: bottom }),
      ...(left !== undefined && { startColumnIndex: left }),
      ...(right !== undefined && { endColumnIndex: right }),
    };
  }

  #span(dimension: string, start: number, count: number): sheets_v4.Schema$DimensionRange {
    return { sheetId: this.#sheetId, dimension, startIndex: start, endIndex: start + count };
  }

  #move(dimension: string, start: number, count: number, destinationIndex: number): void {
    this.#do({ moveDimension: { source: this.#span(dimension, start, count), destinationIndex } });
  }

  #insert(dimension: string, at: number, count: number): void {
    const range = this.#span(dimension, at, count);
    // "Insert row above" uses the format of the row above, unless that is a frozen header.
    const frozen = dimension === 'ROWS' ? (this.#sheet.properties.frozenRowCount ?? 0) : 0;
    this.#do({ insertDimension: { range, inheritFromBefore: at > frozen } });
  }

  #properties(properties: sheets_v4.Schema$SheetProperties, fields: string): void {
    this.#do({
      updateSheetProperties: { properties: { sheetId: this.#sheetId, ...properties }, fields },
    });
  }

  #do(...requests: Requests[]): sheets_v4.Schema$Response[] {
    return this.#change((edit) => runBatch(edit, requests));
  }

  #change<T>(action: (edit: Edit) => T): T {
    const file = this.#file;
    return this.#files.change(file, { email: file.owner, isOwner: true }, action);
  }
}
