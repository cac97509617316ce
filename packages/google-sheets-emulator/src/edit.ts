import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { cellTooLong, invalid, protectedCell } from './api-error.ts';
import { EMPTY_CELL, Formula, type Cell, type Content } from './cell.ts';
import { boundsOf, type Document } from './document.ts';
import { merge, touches, type Mask } from './field-mask.ts';
import { obstacle, type Caller } from './protection.ts';
import type { Area, Sheet } from './sheet.ts';

/** Characters (UTF-16) of one cell. */
const MAX_CELL_CHARACTERS = 50_000;

/** The context of a change: a fork of the document, the caller, and the time. */
export interface Edit {
  readonly document: Document;
  readonly caller: Caller;
  readonly nowMs: number;
  /** One object for each distinct format of a cell, which many cells share. */
  readonly formats: Map<string, sheets_v4.Schema$CellFormat>;
  /** A fresh ID for a sheet, a protection, a piece of metadata, … */
  readonly nextId: () => number;
}

/** Throws Google's 400 if a hard protection excludes the caller from the area. */
export function guard(edit: Edit, sheet: Sheet, area: Area): void {
  if (obstacle(sheet, area, edit.caller) !== undefined) throw protectedCell();
}

/** A range as Google stores it: no `sheetId` if it is 0. Throws if it is not in the grid. */
export function storedRange(
  edit: Edit,
  range: sheets_v4.Schema$GridRange | null | undefined,
): sheets_v4.Schema$GridRange {
  const sheet = edit.document.grid(range?.sheetId);
  const bounds = boundsOf(range);
  sheet.areaOf(bounds);
  return sheet.id === 0 ? bounds : { sheetId: sheet.id, ...bounds };
}

/** An area as a range of its tab with all four bounds. */
export const closedRange = (sheet: Sheet, area: Area): sheets_v4.Schema$GridRange => ({
  ...(sheet.id !== 0 && { sheetId: sheet.id }),
  startRowIndex: area.top,
  endRowIndex: area.bottom,
  startColumnIndex: area.left,
  endColumnIndex: area.right,
});

/** Puts content into a cell of a row, within Google's limit of characters. */
export function putContent(
  sheet: Sheet,
  cells: (Cell | undefined)[],
  column: number,
  content: Content,
): void {
  const text = content instanceof Formula ? content.text : content;
  if (typeof text === 'string' && text.length > MAX_CELL_CHARACTERS) {
    throw cellTooLong(MAX_CELL_CHARACTERS);
  }
  if (content instanceof Formula) sheet.mayHoldFormulas = true;
  cells[column] = { ...cells[column], content: content === '' ? null : content };
}

/** The content of an ExtendedValue of a request. */
export function contentOf(value: sheets_v4.Schema$ExtendedValue | null | undefined): Content {
  if (value === null || value === undefined) return null;
  const { stringValue, numberValue, boolValue, formulaValue, errorValue } = value;
  if (errorValue !== undefined && errorValue !== null) {
    throw invalid('ExtendedValue.errorValue is read-only.');
  }
  if (typeof formulaValue === 'string') {
    return new Formula(formulaValue.startsWith('=') ? formulaValue : `=${formulaValue}`);
  }
  return stringValue ?? numberValue ?? boolValue ?? null;
}

/** A format with the masked parts of a CellData in place of its own. */
function formatFrom(
  { formats }: Edit,
  userEnteredFormat: Cell['format'],
  data: sheets_v4.Schema$CellData,
  mask: Mask,
): Cell['format'] {
  const before: sheets_v4.Schema$CellData = userEnteredFormat ? { userEnteredFormat } : {};
  const format = merge(before, data, mask).userEnteredFormat ?? {};
  if (Object.keys(format).length === 0) return undefined;
  const key = JSON.stringify(format);
  const known = formats.get(key) ?? format;
  formats.set(key, known);
  return known;
}

/** The parts of CellData that a mask covers; computed once per request, not per cell. */
export interface CellAspects {
  readonly mask: Mask;
  readonly value: boolean;
  readonly format: boolean;
  readonly note: boolean;
}

/** See {@link CellAspects}. */
export const aspectsOf = (mask: Mask): CellAspects => ({
  mask,
  value: touches(mask, 'userEnteredValue'),
  format: touches(mask, 'userEnteredFormat'),
  note: touches(mask, 'note'),
});

/** Writes the masked parts of `data` into one cell; parts that `data` lacks are cleared. */
export function putCellData(
  edit: Edit,
  sheet: Sheet,
  cells: (Cell | undefined)[],
  column: number,
  data: sheets_v4.Schema$CellData,
  aspects: CellAspects,
): void {
  if (aspects.value) putContent(sheet, cells, column, contentOf(data.userEnteredValue));
  const old = cells[column] ?? EMPTY_CELL;
  const format = aspects.format ? formatFrom(edit, old.format, data, aspects.mask) : old.format;
  const note = aspects.note ? data.note || undefined : old.note;
  cells[column] = { content: old.content, format, note };
}
