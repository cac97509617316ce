import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { safeText } from '../../../base/errors.ts';
import { count } from '../../../base/format.ts';
import { cellText } from '../../../mirror/cells.ts';
import type { Cell } from '../../../mirror/types.ts';

/** Characters (UTF-16) of one cell. Google refuses a whole batch with a longer text. */
const MAX_CELL_CHARACTERS = 50_000;

/** The content of one of our cells; null: empty. Text is written as text and numbers as numbers, so nothing is evaluated. */
export type SheetValue = string | number | null;

/** A cell shows integers from here on as 1.7E+15. */
const LONG_NUMBER = 1e15;

/** A text that a cell can hold, and the changes that were necessary, as part of a sentence. */
export interface FittedText {
  readonly text: string;
  readonly defects: readonly string[];
}

/** Makes a text fit into a cell: half surrogate pairs and U+0000 become visible characters, and a long text is cut with a mark. */
export function fitText(text: string): FittedText {
  const defects: string[] = [];
  let fitted = text.toWellFormed();
  if (fitted !== text) defects.push('contains a damaged character; it is shown as \uFFFD');
  if (fitted.includes('\0')) {
    fitted = fitted.replaceAll('\0', '\u2400');
    defects.push('contains the character U+0000; it is shown as \u2400');
  }
  if (fitted.length > MAX_CELL_CHARACTERS) {
    fitted = cut(fitted);
    defects.push('is longer than the 50,000 characters that a cell of a sheet holds, and was cut');
  }
  return { text: fitted, defects };
}

function cut(text: string): string {
  const mark = ` [cut: ${count(text.length)} characters]`;
  return safeText(text, MAX_CELL_CHARACTERS - mark.length) + mark;
}

/**
 * An answer as a cell's value. A sheet's numbers are doubles: long integers and numbers that a double would round are written as
 * text, digit by digit. To a sheet, an empty text and no answer are the same.
 */
export function toSheetValue(cell: Cell): { value: SheetValue; defects: readonly string[] } {
  if (cell === null || cell === '') return { value: null, defects: [] };
  if (typeof cell === 'number' && (!Number.isInteger(cell) || Math.abs(cell) < LONG_NUMBER)) {
    // A plain -0 would come back as 0 and always count as changed.
    return { value: cell === 0 ? 0 : cell, defects: [] };
  }
  const { text, defects } = fitText(cellText(cell) ?? '');
  return { value: text, defects };
}

/** A value for batchUpdate, with its type, so that `=…` stays text (discovery document, "ExtendedValue"). */
export function cellData(value: SheetValue): sheets_v4.Schema$CellData {
  if (value === null) return {};
  return {
    userEnteredValue: typeof value === 'number' ? { numberValue: value } : { stringValue: value },
  };
}

/** A value as values.* returns it (UNFORMATTED_VALUE, SERIAL_NUMBER). Booleans and results of formulas come from people. */
export type ReadValue = string | number | boolean | undefined | null;

/** Sheets may turn CR LF into LF, which does not change the answer. */
export const plainLines = (text: string): string =>
  text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
