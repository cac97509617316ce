import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { Calculator } from './calculator.ts';
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

function pasted(old: Cell, source: Cell, pasteType: string, edit: Edit): Cell {
  const format = source.cellStyle?.format;
  switch (pasteType) {
    case 'PASTE_VALUES':
    case 'PASTE_FORMULA':
      return { ...old, content: source.content };
    case 'PASTE_FORMAT':
      return {
        ...old,
        cellStyle: edit.cellStyles.intern({ ...old.cellStyle, ...(format && { format }) }),
      };
    default:
      return source;
  }
}

/** Writes a block of cells, repeated to fill `area`; formulas read as copies do. */
function paste(
  edit: Edit,
  sheet: Sheet,
  area: Area,
  block: Cell[][],
  from: Area,
  pasteType: string,
): void {
  guard(edit, sheet, area);
  const [height, width] = [block.length, block[0]?.length ?? 0];
  for (let index = area.top; index < area.bottom; index++) {
    const before = sheet.row(index);
    sheet.editRow(index, (row) => {
      for (let column = area.left; column < area.right; column++) {
        const [y, x] = [(index - area.top) % height, (column - area.left) % width];
        const source = block[y]?.[x] ?? EMPTY_CELL;
        const content =
          source.content instanceof Formula
            ? copyFormula(source.content, index - from.top - y, column - from.left - x)
            : source.content;
        const old = before === undefined ? EMPTY_CELL : sheet.cell(index, column);
        row.cell(column, pasted(old, { ...source, content }, pasteType, edit));
        if (content instanceof Formula) sheet.mayHoldFormulas = true;
      }
    });
  }
}

/** PASTE_VALUES pastes results, not formulas. */
function withResults(edit: Edit, sheet: Sheet, area: Area, block: Cell[][]): Cell[][] {
  const calculator = new Calculator(edit.document, edit.nowMs);
  return block.map((row, y) =>
    row.map((cell, x) => {
      if (!(cell.content instanceof Formula)) return cell;
      const value = calculator.value(sheet, area.top + y, area.left + x);
      return { ...cell, content: typeof value === 'object' ? null : value };
    }),
  );
}

/** copyPaste: a destination larger than the source is filled with copies. */
export function copyPaste(edit: Edit, request: sheets_v4.Schema$CopyPasteRequest): undefined {
  const { sheet, area } = located(edit, request.source);
  const target = located(edit, request.destination);
  const pasteType = request.pasteType ?? 'PASTE_NORMAL';
  const cells = cellsOf(sheet, area);
  const block = pasteType === 'PASTE_VALUES' ? withResults(edit, sheet, area, cells) : cells;
  const { sheet: onto, area: to } = target;
  const height = area.bottom - area.top;
  const width = area.right - area.left;
  const fill: Area = {
    ...to,
    bottom: Math.min(onto.rowCount, Math.max(to.bottom, to.top + height)),
    right: Math.min(onto.columnCount, Math.max(to.right, to.left + width)),
  };
  paste(edit, onto, fill, block, area, pasteType);
  return undefined;
}
