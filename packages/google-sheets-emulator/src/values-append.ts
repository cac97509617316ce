import type { Bounds } from './a1.ts';
import type { Area, Sheet } from './sheet.ts';

const holds = (sheet: Sheet, row: number, column: number): boolean =>
  row >= 0 && column >= 0 && (sheet.row(row)?.cells[column] ?? null) !== null;

function anyInRow(sheet: Sheet, row: number, left: number, right: number): boolean {
  for (let column = left; column < right; column++) if (holds(sheet, row, column)) return true;
  return false;
}

function anyInColumn(sheet: Sheet, column: number, top: number, bottom: number): boolean {
  for (let row = top; row < bottom; row++) if (holds(sheet, row, column)) return true;
  return false;
}

/** The block of cells around a filled one that no empty row or column divides: what Sheets takes for a table. */
function growTable(sheet: Sheet, seed: Area): Area {
  let { top, bottom, left, right } = seed;
  for (;;) {
    const [wideLeft, wideRight] = [Math.max(0, left - 1), right + 1];
    if (top > 0 && anyInRow(sheet, top - 1, wideLeft, wideRight)) top--;
    else if (bottom < sheet.usedRows && anyInRow(sheet, bottom, wideLeft, wideRight)) bottom++;
    else if (left > 0 && anyInColumn(sheet, left - 1, Math.max(0, top - 1), bottom + 1)) left--;
    else if (anyInColumn(sheet, right, Math.max(0, top - 1), bottom + 1)) right++;
    else return { top, bottom, left, right };
  }
}

/** The last filled cell of an area: the lowest, then the rightmost. */
function lastFilled(sheet: Sheet, area: Area): { row: number; column: number } | undefined {
  for (let row = Math.min(area.bottom, sheet.usedRows) - 1; row >= area.top; row--) {
    const width = Math.min(area.right, sheet.row(row)?.cells.length ?? 0);
    for (let column = width - 1; column >= area.left; column--) {
      if (holds(sheet, row, column)) return { row, column };
    }
  }
  return undefined;
}

/**
 * The table that values.append looks for: the last one that the range touches; undefined when the range is empty, even
 * right below or beside one. Google appends below it and from its first column: a blank first cell in the data shifts what comes
 * next.
 */
export function findTable(sheet: Sheet, bounds: Bounds): Area | undefined {
  const area: Area = {
    top: bounds.startRowIndex ?? 0,
    bottom: Math.min(bounds.endRowIndex ?? sheet.rowCount, sheet.rowCount),
    left: bounds.startColumnIndex ?? 0,
    right: Math.min(bounds.endColumnIndex ?? sheet.columnCount, sheet.columnCount),
  };
  const last = lastFilled(sheet, area);
  if (last === undefined) return undefined;
  const { row, column } = last;
  return growTable(sheet, { top: row, bottom: row + 1, left: column, right: column + 1 });
}
