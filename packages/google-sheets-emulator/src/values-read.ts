import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { formatA1, type Bounds } from './a1.ts';
import { exceedsGrid, invalid } from './api-error.ts';
import type { Calculator } from './calculator.ts';
import { CellError } from './formula-values.ts';
import { Formula } from './cell.ts';
import type { Area, Sheet } from './sheet.ts';

/** `valueRenderOption` and `dateTimeRenderOption` of values.*. */
export interface RenderOptions {
  readonly values: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA';
  readonly dates: 'SERIAL_NUMBER' | 'FORMATTED_STRING';
}

/** Reads the two options as they come in a query or body. */
export function renderOptions(
  values: string | null | undefined,
  dates: string | null | undefined,
): RenderOptions {
  const value = values ?? 'FORMATTED_VALUE';
  if (value !== 'FORMATTED_VALUE' && value !== 'UNFORMATTED_VALUE' && value !== 'FORMULA') {
    throw invalid(
      `Invalid value at 'value_render_option' (type.googleapis.com/google.apps.sheets.v4.ValueRenderOption), "${value}"`,
    );
  }
  return { values: value, dates: dates === 'FORMATTED_STRING' ? dates : 'SERIAL_NUMBER' };
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
  options: RenderOptions,
): Shown | undefined {
  const content = sheet.row(row)?.cells[column] ?? null;
  if (content === null && calculator.value(sheet, row, column) === null) return undefined;
  if (options.values === 'FORMULA' && content instanceof Formula) return content.text;
  const value = calculator.value(sheet, row, column);
  if (value === null) return '';
  if (value instanceof CellError) return value.text;
  if (options.values === 'FORMATTED_VALUE') return calculator.show(value, sheet, row, column);
  if (
    options.dates === 'FORMATTED_STRING' &&
    typeof value === 'number' &&
    calculator.isDate(sheet, row, column)
  ) {
    return calculator.show(value, sheet, row, column);
  }
  return value;
}

/** Cells of an area, row by row or column by column: trailing empty ones and trailing empty lists are left out, gaps are `""`. */
function cellValues(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  byColumn: boolean,
  options: RenderOptions,
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
      const shown = render(calculator, sheet, row, column, options);
      if (shown === undefined) continue;
      while (list.length < b) list.push('');
      list.push(shown);
    }
    lists.push(list);
    if (list.length > 0) filled = lists.length;
  }
  return lists.slice(0, filled);
}

/** A range of values in a response of values.get, without `values` if everything is empty. */
export function readValues(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  majorDimension: string | null | undefined,
  options: RenderOptions,
): sheets_v4.Schema$ValueRange {
  const byColumn = majorDimension === 'COLUMNS';
  const values = cellValues(calculator, sheet, area, byColumn, options);
  return {
    range: formatA1(sheet.properties.title, area),
    majorDimension: byColumn ? 'COLUMNS' : 'ROWS',
    ...(values.length > 0 && { values }),
  };
}
