import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { EMPTY_CELL, Formula, type Cell } from './cell.ts';
import { boundsOf } from './document.ts';
import { guard, type Edit } from './edit.ts';
import { copyFormula } from './formula-moves.ts';
import type { Area, Sheet } from './sheet.ts';
import { sortArea } from './sorting.ts';

function located(
  edit: Edit,
  range: sheets_v4.Schema$GridRange | undefined,
): { sheet: Sheet; area: Area } {
  const sheet = edit.document.grid(range?.sheetId);
  return { sheet, area: sheet.areaOf(boundsOf(range)) };
}

/** sortRange. What of its range lies beyond the grid is cut off, where other requests are refused (so it was seen). */
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

/** The cells of an area, row by row. */
function cellsOf(sheet: Sheet, area: Area): Cell[][] {
  return Array.from({ length: area.bottom - area.top }, (_, row) =>
    Array.from({ length: area.right - area.left }, (__, column) =>
      sheet.cell(area.top + row, area.left + column),
    ),
  );
}

/** Writes a block of cells, repeated to fill `area`; formulas read as copies do. */
function paste(edit: Edit, sheet: Sheet, area: Area, block: Cell[][], from: Area): void {
  guard(edit, sheet, area);
  const [height, width] = [block.length, block[0]?.length ?? 0];
  for (let index = area.top; index < area.bottom; index++) {
    sheet.editRow(index, (row) => {
      for (let column = area.left; column < area.right; column++) {
        const [y, x] = [(index - area.top) % height, (column - area.left) % width];
        const source = block[y]?.[x] ?? EMPTY_CELL;
        const content =
          source.content instanceof Formula
            ? copyFormula(source.content, index - from.top - y, column - from.left - x)
            : source.content;
        row.cell(column, { ...source, content });
        if (content instanceof Formula) sheet.mayHoldFormulas = true;
      }
    });
  }
}

/** copyPaste: a destination larger than the source is filled with copies. */
export function copyPaste(edit: Edit, request: sheets_v4.Schema$CopyPasteRequest): undefined {
  if ((request.pasteType ?? 'PASTE_NORMAL') !== 'PASTE_NORMAL') {
    const message = 'The Google Sheets emulator only pastes everything.';
    throw new ApiError('UNIMPLEMENTED', message);
  }
  const { sheet, area } = located(edit, request.source);
  const { sheet: onto, area: to } = located(edit, request.destination);
  const fill: Area = {
    ...to,
    bottom: Math.min(onto.rowCount, Math.max(to.bottom, to.top + area.bottom - area.top)),
    right: Math.min(onto.columnCount, Math.max(to.right, to.left + area.right - area.left)),
  };
  paste(edit, onto, fill, cellsOf(sheet, area), area);
  return undefined;
}
