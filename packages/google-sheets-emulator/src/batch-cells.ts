import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { cellAt, Formula, type RowEdit } from './cell.ts';
import { boundsOf } from './document.ts';
import {
  aspectsOf,
  contentOf,
  guard,
  putCellData,
  putContent,
  type CellAspects,
  type Edit,
} from './edit.ts';
import { updateMask } from './field-mask.ts';
import { copyFormula } from './formula-moves.ts';
import type { Area, Sheet } from './sheet.ts';

type Rows = readonly sheets_v4.Schema$RowData[];

const widthOf = (rows: Rows): number =>
  rows.reduce((most, row) => Math.max(most, row.values?.length ?? 0), 0);

/** Data must fit where it is written: the messages count from zero, as Google's do. */
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
    const old = sheet.row(top + offset);
    sheet.editRow(top + offset, (row) => {
      for (const [at, data] of values.entries()) {
        const column = left + at;
        putCellData(edit, sheet, row, column, cellAt(old, column), data ?? {}, aspects);
      }
    });
  }
}

function clearRest(edit: Edit, sheet: Sheet, area: Area, rows: Rows, aspects: CellAspects): void {
  for (let index = area.top; index < area.bottom; index++) {
    const given = rows[index - area.top]?.values?.length ?? 0;
    const old = sheet.row(index);
    if (old === undefined || area.left + given >= area.right) continue;
    sheet.editRow(index, (row) => {
      for (let column = area.left + given; column < area.right; column++) {
        putCellData(edit, sheet, row, column, cellAt(old, column), {}, aspects);
      }
    });
  }
}

/** updateCells: with `range`, what the data does not cover is cleared; with `start`, only given cells change. */
export function updateCells(edit: Edit, request: sheets_v4.Schema$UpdateCellsRequest): undefined {
  const aspects = aspectsOf(updateMask(request.fields));
  const rows = request.rows ?? [];
  const { range, start } = request;
  if (range !== undefined && range !== null) {
    const sheet = edit.document.grid(range.sheetId);
    const area = sheet.areaOf(boundsOf(range));
    checkFit(rows, area.top, area.left, area.bottom, area.right);
    guard(edit, sheet, area);
    putRows(edit, sheet, area.top, area.left, rows, aspects);
    clearRest(edit, sheet, area, rows, aspects);
    return undefined;
  }
  if (start === undefined || start === null) {
    throw invalid('Must specify either start or range.');
  }
  const sheet = edit.document.grid(start.sheetId);
  const [top, left] = [start.rowIndex ?? 0, start.columnIndex ?? 0];
  checkCoordinate(sheet, top, left);
  checkFit(rows, top, left, sheet.rowCount, sheet.columnCount);
  guard(edit, sheet, { top, left, bottom: top + rows.length, right: left + widthOf(rows) });
  putRows(edit, sheet, top, left, rows, aspects);
  return undefined;
}

/** Throws Google's text for a cell outside the grid; it names the index of the last row. */
export function checkCoordinate(sheet: Sheet, row: number, column: number): void {
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

/** Calls `change` for every row of an area. Rows that hold nothing are only made when `evenEmpty`. */
function eachRow(
  sheet: Sheet,
  area: Area,
  evenEmpty: boolean,
  change: (row: RowEdit, index: number) => void,
): void {
  const bottom = evenEmpty ? area.bottom : Math.min(area.bottom, sheet.usedRows);
  for (let index = area.top; index < bottom; index++) {
    if (!evenEmpty && sheet.row(index) === undefined) continue;
    sheet.editRow(index, (row) => change(row, index));
  }
}

/** repeatCell: the same masked data in every cell; relative references of a formula move along. */
export function repeatCell(edit: Edit, request: sheets_v4.Schema$RepeatCellRequest): undefined {
  const aspects = aspectsOf(updateMask(request.fields));
  const sheet = edit.document.grid(request.range?.sheetId);
  const area = sheet.areaOf(boundsOf(request.range));
  guard(edit, sheet, area);
  const data = request.cell ?? {};
  const content = aspects.value ? contentOf(data.userEnteredValue) : null;
  const rest = { ...aspects, value: false };
  const evenEmpty =
    content !== null ||
    (aspects.cellStyle && Object.keys(data).length > 0) ||
    (aspects.note && !!data.note);
  eachRow(sheet, area, evenEmpty, (row, index) => {
    const old = sheet.row(index);
    for (let column = area.left; column < area.right; column++) {
      putCellData(edit, sheet, row, column, cellAt(old, column), data, rest);
      if (!aspects.value) continue;
      const moved =
        content instanceof Formula
          ? copyFormula(content, index - area.top, column - area.left)
          : content;
      putContent(sheet, row, column, moved);
    }
  });
  return undefined;
}
