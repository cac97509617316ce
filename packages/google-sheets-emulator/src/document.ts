import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Bounds } from './a1.ts';
import { invalid, tooManyCells } from './api-error.ts';
import { Formula, type Cell, type Cells } from './cell.ts';
import { remapFormula, renameInFormula } from './formula-moves.ts';
import { remapMetadata, type Metadata } from './metadata.ts';
import { remapOverlays } from './overlays.ts';
import type { Remap } from './remap.ts';
import type { Sheet } from './sheet.ts';

/** Cells of all tabs together, including empty ones. */
const MAX_CELLS = 10_000_000;
/** Columns of a tab: `ZZZ`. */
const MAX_COLUMNS = 18_278;
/** Tabs of a spreadsheet. */
export const MAX_TABS = 200;

/** Title, locale and time zone of a spreadsheet. */
export interface DocumentProperties {
  readonly title: string;
  readonly locale: string;
  readonly timeZone: string;
}

/**
 * The content of a spreadsheet. A batch works on a {@link fork} and either replaces the original with it or drops it.
 */
export class Document {
  properties: DocumentProperties;
  sheets: Sheet[] = [];
  metadata: readonly Metadata[] = [];

  constructor(properties: DocumentProperties) {
    this.properties = properties;
  }

  fork(): Document {
    const copy = new Document(this.properties);
    copy.sheets = this.sheets.map((sheet) => sheet.fork());
    copy.metadata = this.metadata;
    return copy;
  }

  /** The tab of a grid request. Throws Google's `No grid with id`. */
  grid(sheetId: number | null | undefined): Sheet {
    const id = sheetId ?? 0;
    const sheet = this.sheets.find((candidate) => candidate.id === id);
    if (sheet === undefined) throw invalid(`No grid with id: ${id}`);
    return sheet;
  }

  byTitle(title: string): Sheet | undefined {
    return (
      this.sheets.find((sheet) => sheet.properties.title === title) ??
      this.sheets.find((sheet) => sheet.properties.title.toLowerCase() === title.toLowerCase())
    );
  }

  /** Throws if the tabs together are larger than Google allows. */
  checkSize(): void {
    const cells = this.sheets.reduce((sum, sheet) => sum + sheet.cellCount, 0);
    if (cells > MAX_CELLS) throw tooManyCells(MAX_CELLS);
    if (this.sheets.some((sheet) => sheet.columnCount > MAX_COLUMNS)) {
      // The limit is known from several sources, but Google's wording is not.
      throw invalid(`A sheet cannot have more than ${MAX_COLUMNS} columns.`);
    }
  }

  /**
   * Updates everything that refers to rows or columns of `sheet`, except for the rows themselves, which the caller
   * moves.
   */
  followMove(sheet: Sheet, dimension: 'ROWS' | 'COLUMNS', remap: Remap): void {
    sheet.overlays = remapOverlays(sheet.overlays, dimension, remap);
    this.metadata = remapMetadata(this.metadata, sheet.id, dimension, remap);
    const axis = dimension === 'ROWS' ? 'row' : 'column';
    const title = sheet.properties.title;
    this.#eachFormula((formula, owner) =>
      remapFormula(formula, owner.properties.title, title, axis, remap),
    );
  }

  /** Updates formulas with the new name of a tab. */
  followRename(from: string, to: string): void {
    this.#eachFormula((formula) => renameInFormula(formula, from, to));
  }

  /** Removes everything that belonged to a deleted tab or referred to it. */
  forgetSheet({ id: sheetId, properties: { title } }: Sheet): void {
    this.#eachFormula((formula) => renameInFormula(formula, title, null));
    this.metadata = this.metadata.filter(({ place }) => place.sheetId !== sheetId);
  }

  #eachFormula(change: (formula: Formula, owner: Sheet) => Formula): void {
    for (const sheet of this.sheets) {
      if (!sheet.mayHoldFormulas) continue;
      for (let index = 0; index < sheet.usedRows; index++) {
        const row = sheet.row(index);
        const cells = row && changedCells(row.cells, (formula) => change(formula, sheet));
        if (row !== undefined && cells !== undefined) sheet.setRow(index, { ...row, cells });
      }
    }
  }
}

function changedCells(old: Cells, change: (formula: Formula) => Formula): Cells | undefined {
  let cells: (Cell | undefined)[] | undefined;
  for (const [column, cell] of old.entries()) {
    if (!(cell?.content instanceof Formula)) continue;
    const content = change(cell.content);
    if (content === cell.content) continue;
    cells ??= [...old];
    cells[column] = { ...cell, content };
  }
  return cells;
}

/** The bounds of a GridRange of the API. */
export function boundsOf(range: sheets_v4.Schema$GridRange | null | undefined): Bounds {
  const { startRowIndex, endRowIndex, startColumnIndex, endColumnIndex } = range ?? {};
  return {
    ...(typeof startRowIndex === 'number' && { startRowIndex }),
    ...(typeof endRowIndex === 'number' && { endRowIndex }),
    ...(typeof startColumnIndex === 'number' && { startColumnIndex }),
    ...(typeof endColumnIndex === 'number' && { endColumnIndex }),
  };
}
