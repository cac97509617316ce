import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { formatA1 } from './a1.ts';
import { ApiError, invalid } from './api-error.ts';
import { Calculator } from './calculator.ts';
import { compareValues, type Value } from './formula-values.ts';
import { Formula, type Cell, type Cells } from './cell.ts';
import { boundsOf } from './document.ts';
import { guard, type Edit } from './edit.ts';
import { copyFormula } from './formula-moves.ts';
import { type Area, cellsOf, meets, type Sheet } from './sheet.ts';

const isEmpty = (value: Value): boolean => value === null || value === '';

/** Empty cells stay last in both directions. */
function compareBy(a: Value, b: Value, descending: boolean): number {
  if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
  return descending ? compareValues(b, a) : compareValues(a, b);
}

/** The rows in sorted order. Equal rows keep their order. */
function sortedRows(
  calculator: Calculator,
  sheet: Sheet,
  rows: readonly number[],
  specs: readonly sheets_v4.Schema$SortSpec[],
): number[] {
  const keys = rows.map((row) => ({
    row,
    values: specs.map((spec) => calculator.value(sheet, row, spec.dimensionIndex ?? 0)),
  }));
  keys.sort((a, b) => {
    for (const [index, spec] of specs.entries()) {
      const [x, y] = [a.values[index] ?? null, b.values[index] ?? null];
      const order = compareBy(x, y, spec.sortOrder === 'DESCENDING');
      if (order !== 0) return order;
    }
    return a.row - b.row;
  });
  return keys.map(({ row }) => row);
}

/** A cell that moved to another row: its references within its own row move along. */
function carried(cell: Cell | undefined, from: number, to: number): Cell | undefined {
  return cell?.content instanceof Formula
    ? { ...cell, content: copyFormula(cell.content, to - from, 0) }
    : cell;
}

function checkVerticalMerges(sheet: Sheet, area: Area): void {
  const merge = sheet.overlays.merges.find((range) => {
    const merged = cellsOf(range);
    return meets(merged, area) && merged.bottom - merged.top > 1;
  });
  if (merge === undefined) return;
  const place = formatA1(sheet.properties.title, sheet.areaOf(boundsOf(merge)));
  throw invalid(
    `You can't sort a range containing vertical merges. There is a vertical merge at ${place.slice(place.indexOf('!') + 1)}`,
  );
}

/** A table's header is not sorted. It is not known how Google sorts a range that contains both. */
function refuseTableHeader(sheet: Sheet, area: Area): void {
  const holds = sheet.overlays.tables.some((table) => {
    const all = cellsOf(table.range);
    return meets({ ...all, bottom: all.top + 1 }, area);
  });
  if (!holds) return;
  const message = 'The Google Sheets emulator does not sort the header row of a table.';
  throw new ApiError('UNIMPLEMENTED', message);
}

/** The rows of an area that people can see: a hidden one stays in place. */
function visibleRows(sheet: Sheet, area: Area): number[] {
  const rows: number[] = [];
  for (let row = area.top; row < area.bottom; row++) {
    if (sheet.row(row)?.properties?.hiddenByFilter !== true) rows.push(row);
  }
  return rows;
}

/**
 * Sorts the rows of an area: contents, formats and notes move; heights, hidden rows and cells beside the area stay (as
 * observed in Sheets: visible rows are sorted into the remaining places). Throws Google's texts for protected cells and
 * vertical merges.
 */
function sortArea(
  edit: Edit,
  sheet: Sheet,
  area: Area,
  specs: readonly sheets_v4.Schema$SortSpec[],
): void {
  guard(edit, sheet, area);
  checkVerticalMerges(sheet, area);
  refuseTableHeader(sheet, area);
  // Rows below the stored ones are empty: they would stay at the end in any case.
  const used = { ...area, bottom: Math.min(area.bottom, sheet.usedRows) };
  const places = visibleRows(sheet, used);
  const order = sortedRows(new Calculator(edit.document, edit.nowMs), sheet, places, specs);
  const moved = order.flatMap((from, at) => {
    const to = places[at] ?? from;
    return from === to ? [] : [{ from, to, source: sheet.row(from)?.cells ?? [] }];
  });
  for (const { from, to, source } of moved)
    sheet.editRow(to, (cells) => putCells(cells, source, used, (cell) => carried(cell, from, to)));
}

/** Replaces the cells of a row with others, within an area. */
function putCells(
  cells: (Cell | undefined)[],
  source: Cells,
  { left, right }: Area,
  carry: (cell: Cell | undefined) => Cell | undefined,
): void {
  const end = Math.min(right, Math.max(source.length, cells.length));
  for (let column = left; column < end; column++) cells[column] = carry(source[column]);
}

/** sortRange. The part of its range beyond the grid is cut off, although other requests are refused (as observed). */
export function sortRange(edit: Edit, request: sheets_v4.Schema$SortRangeRequest): undefined {
  const sheet = edit.document.grid(request.range?.sheetId);
  const { endRowIndex = Infinity, endColumnIndex = Infinity, ...start } = boundsOf(request.range);
  const area = sheet.areaOf({
    ...start,
    endRowIndex: Math.min(endRowIndex, sheet.rowCount),
    endColumnIndex: Math.min(endColumnIndex, sheet.columnCount),
  });
  const specs = request.sortSpecs ?? [];
  for (const spec of specs) {
    const index = spec.dimensionIndex ?? 0;
    if (index < area.left || index >= area.right) {
      throw invalid(`sortSpecs.dimensionIndex[${index}] is outside of the range to sort.`);
    }
  }
  sortArea(edit, sheet, area, specs);
  return undefined;
}
