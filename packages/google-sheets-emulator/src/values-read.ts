import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { formatA1, type Bounds } from './a1.ts';
import { ApiError, exceedsGrid } from './api-error.ts';
import type { Calculator } from './calculator.ts';
import { CellError } from './formula-values.ts';
import type { Area, Sheet } from './sheet.ts';

/** Throws 501 unless unformatted values are requested, with dates as serial numbers. */
export function requirePlainValues({
  valueRenderOption,
  dateTimeRenderOption = 'SERIAL_NUMBER',
}: sheets_v4.Schema$BatchGetValuesByDataFilterRequest): void {
  if (valueRenderOption === 'UNFORMATTED_VALUE' && dateTimeRenderOption === 'SERIAL_NUMBER') return;
  throw new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator only does UNFORMATTED_VALUE.');
}

/** The part of the grid that a read covers: ends beyond the grid are cut, a start beyond it is an error. */
export function readableArea(sheet: Sheet, bounds: Bounds): Area {
  const { rowCount, columnCount } = sheet;
  const area = {
    top: bounds.startRowIndex ?? 0,
    bottom: Math.min(bounds.endRowIndex ?? rowCount, rowCount),
    left: bounds.startColumnIndex ?? 0,
    right: Math.min(bounds.endColumnIndex ?? columnCount, columnCount),
  };
  if (area.top < area.bottom && area.left < area.right) return area;
  const asked = {
    top: area.top,
    bottom: bounds.endRowIndex ?? Math.max(rowCount, area.top + 1),
    left: area.left,
    right: bounds.endColumnIndex ?? Math.max(columnCount, area.left + 1),
  };
  throw exceedsGrid(formatA1(sheet.properties.title, asked), rowCount, columnCount);
}

type Shown = string | number | boolean;

function render(
  calculator: Calculator,
  sheet: Sheet,
  row: number,
  column: number,
): Shown | undefined {
  const value = calculator.value(sheet, row, column);
  return value instanceof CellError ? value.text : (value ?? undefined);
}

/** Cells of an area, row by row or column by column: trailing empty ones and trailing empty lists are left out, gaps are `""`. */
function cellValues(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  byColumn: boolean,
): Shown[][] {
  const bottom = Math.min(area.bottom, calculator.filledRows(sheet));
  const [outer, inner] = byColumn
    ? [area.right - area.left, Math.max(0, bottom - area.top)]
    : [Math.max(0, bottom - area.top), area.right - area.left];
  const lists: Shown[][] = [];
  let filled = 0;
  for (let a = 0; a < outer; a++) {
    const list: Shown[] = [];
    for (let b = 0; b < inner; b++) {
      const [row, column] = byColumn
        ? [area.top + b, area.left + a]
        : [area.top + a, area.left + b];
      const shown = render(calculator, sheet, row, column);
      if (shown === undefined) continue;
      while (list.length < b) list.push('');
      list.push(shown);
    }
    lists.push(list);
    if (list.length > 0) filled = lists.length;
  }
  return lists.slice(0, filled);
}

/** A range of values, without `values` if everything is empty. */
export function readValues(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  majorDimension: string | null | undefined,
): sheets_v4.Schema$ValueRange {
  const byColumn = majorDimension === 'COLUMNS';
  const values = cellValues(calculator, sheet, area, byColumn);
  return {
    range: formatA1(sheet.properties.title, area),
    majorDimension: byColumn ? 'COLUMNS' : 'ROWS',
    ...(values.length > 0 && { values }),
  };
}
