import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { boundsOf } from './document.ts';
import { aspectsOf, guard, putCellData, type CellAspects, type Edit } from './edit.ts';
import { updateMask } from './field-mask.ts';
import type { Sheet } from './sheet.ts';

type Rows = readonly sheets_v4.Schema$RowData[];

const widthOf = (rows: Rows): number =>
  rows.reduce((most, row) => Math.max(most, row.values?.length ?? 0), 0);

/** Data must fit into its place: the messages count from zero, as Google's do. */
function checkFit(rows: Rows, top: number, left: number, bottom: number, right: number): void {
  if (top + rows.length > bottom) {
    throw invalid(
      `Attempting to write row: ${bottom}, beyond the last requested row of: ${bottom - 1}`,
    );
  }
  if (left + widthOf(rows) > right) {
    throw invalid(
      `Attempting to write column: ${right}, beyond the last requested column of: ${right - 1}`,
    );
  }
}

/** Writes rows of CellData from one corner; only the cells that are given. */
function putRows(
  edit: Edit,
  sheet: Sheet,
  top: number,
  left: number,
  rows: Rows,
  aspects: CellAspects,
): void {
  for (const [offset, { values }] of rows.entries()) {
    if (values === undefined || values === null || values.length === 0) continue;
    sheet.editRow(top + offset, (cells) => {
      for (const [at, data] of values.entries())
        putCellData(edit, sheet, cells, left + at, data ?? {}, aspects);
    });
  }
}

/** updateCells from a cell on: only given cells change. */
export function updateCells(
  edit: Edit,
  { start, range, rows = [], fields }: sheets_v4.Schema$UpdateCellsRequest,
): undefined {
  const aspects = aspectsOf(updateMask(fields));
  if (range || !start)
    throw new ApiError(
      'UNIMPLEMENTED',
      'The Google Sheets emulator updates cells from a start on.',
    );
  const sheet = edit.document.grid(start.sheetId);
  const [top, left] = [start.rowIndex ?? 0, start.columnIndex ?? 0];
  checkCoordinate(sheet, top, left);
  checkFit(rows, top, left, sheet.rowCount, sheet.columnCount);
  guard(edit, sheet, { top, left, bottom: top + rows.length, right: left + widthOf(rows) });
  putRows(edit, sheet, top, left, rows, aspects);
  return undefined;
}

/** Throws Google's text for a cell outside the grid; it names the index of the last row. */
function checkCoordinate(sheet: Sheet, row: number, column: number): void {
  if (row >= sheet.rowCount) {
    throw invalid(
      `GridCoordinate.rowIndex[${row}] is after last row in grid[${sheet.rowCount - 1}]`,
    );
  }
  if (column >= sheet.columnCount) {
    throw invalid(
      `GridCoordinate.columnIndex[${column}] is after last column in grid[${sheet.columnCount - 1}]`,
    );
  }
}

/** repeatCell: the same masked data in every cell. */
export function repeatCell(
  edit: Edit,
  { range, cell = {}, fields }: sheets_v4.Schema$RepeatCellRequest,
): undefined {
  const aspects = aspectsOf(updateMask(fields));
  if (cell.userEnteredValue?.formulaValue)
    throw new ApiError('UNIMPLEMENTED', 'The Google Sheets emulator does not repeat formulas.');
  const sheet = edit.document.grid(range?.sheetId);
  const area = sheet.areaOf(boundsOf(range));
  guard(edit, sheet, area);
  // Rows without content are only created if something needs them.
  const bottom = Object.keys(cell).length > 0 ? area.bottom : Math.min(area.bottom, sheet.usedRows);
  for (let index = area.top; index < bottom; index++) {
    sheet.editRow(index, (cells) => {
      for (let column = area.left; column < area.right; column++)
        putCellData(edit, sheet, cells, column, cell, aspects);
    });
  }
  return undefined;
}
