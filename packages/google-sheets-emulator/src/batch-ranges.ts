import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { checkCoordinate } from './batch-cells.ts';
import { Calculator } from './calculator.ts';
import { EMPTY_CELL, Formula, type Cell } from './cell.ts';
import { boundsOf } from './document.ts';
import { guard, putContent, type Edit } from './edit.ts';
import { copyFormula } from './formula-moves.ts';
import { localeOf } from './locale.ts';
import type { Area, Sheet } from './sheet.ts';
import { sortArea } from './sorting.ts';
import { typeIn } from './typed-input.ts';

type Response = sheets_v4.Schema$Response;

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

/** cutPaste: the source is left empty; the cells' formulas keep what they refer to. */
export function cutPaste(edit: Edit, request: sheets_v4.Schema$CutPasteRequest): undefined {
  const { sheet, area } = located(edit, request.source);
  const onto = edit.document.grid(request.destination?.sheetId);
  const [top, left] = [request.destination?.rowIndex ?? 0, request.destination?.columnIndex ?? 0];
  checkCoordinate(onto, top, left);
  const block = cellsOf(sheet, area);
  guard(edit, sheet, area);
  for (let index = area.top; index < Math.min(area.bottom, sheet.usedRows); index++) {
    sheet.editRow(index, (row) => {
      for (let column = area.left; column < area.right; column++) row.cell(column, EMPTY_CELL);
    });
  }
  const to: Area = {
    top,
    left,
    bottom: Math.min(onto.rowCount, top + area.bottom - area.top),
    right: Math.min(onto.columnCount, left + area.right - area.left),
  };
  paste(edit, onto, to, block, to, request.pasteType ?? 'PASTE_NORMAL');
  return undefined;
}

/** insertRange: cells from the range on go down or right; those pushed over the edge are lost when they are empty. */
export function insertRange(edit: Edit, request: sheets_v4.Schema$InsertRangeRequest): undefined {
  const { sheet, area } = located(edit, request.range);
  const down = request.shiftDimension === 'ROWS';
  const rest: Area = down
    ? { ...area, bottom: sheet.rowCount }
    : { ...area, right: sheet.columnCount };
  const moved = cellsOf(sheet, rest);
  const [height, width] = [area.bottom - area.top, area.right - area.left];
  const empty = (count: number): Cell[] => Array.from({ length: count }, () => EMPTY_CELL);
  const block = down
    ? [...Array.from({ length: height }, () => empty(width)), ...moved].slice(0, moved.length)
    : moved.map((row) => empty(width).concat(row).slice(0, row.length));
  paste(edit, sheet, rest, block, rest, 'PASTE_NORMAL');
  return undefined;
}

/** deleteRange: cells behind the range come up or left. */
export function deleteRange(edit: Edit, request: sheets_v4.Schema$DeleteRangeRequest): undefined {
  const { sheet, area } = located(edit, request.range);
  const up = request.shiftDimension === 'ROWS';
  const rest: Area = up
    ? { ...area, bottom: sheet.rowCount }
    : { ...area, right: sheet.columnCount };
  const kept = cellsOf(sheet, rest);
  const [height, width] = [area.bottom - area.top, area.right - area.left];
  const empty = (count: number): Cell[] => Array.from({ length: count }, () => EMPTY_CELL);
  const block = up
    ? [...kept.slice(height), ...Array.from({ length: height }, () => empty(width))]
    : kept.map((row) => row.slice(width).concat(empty(width)));
  paste(edit, sheet, rest, block, rest, 'PASTE_NORMAL');
  return undefined;
}

function pattern(request: sheets_v4.Schema$FindReplaceRequest): RegExp {
  const find = request.find ?? '';
  if (find === '') throw invalid('find must not be empty.');
  const source =
    request.searchByRegex === true ? find : find.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const flags = request.matchCase === true ? 'g' : 'gi';
  try {
    return new RegExp(request.matchEntireCell === true ? `^(?:${source})$` : source, flags);
  } catch {
    throw invalid(`Invalid regular expression: ${find}`);
  }
}

/** findReplace: over a range, a tab or all tabs; the new text counts as typed. */
export function findReplace(edit: Edit, request: sheets_v4.Schema$FindReplaceRequest): Response {
  const search = pattern(request);
  const { document } = edit;
  const scopes = request.range
    ? [located(edit, request.range)]
    : (request.allSheets === true ? document.sheets : [document.grid(request.sheetId)]).map(
        (sheet) => ({ sheet, area: sheet.area }),
      );
  const locale = localeOf(document.properties.locale);
  const found = { values: 0, formulas: 0, rows: 0, sheets: 0, occurrences: 0 };
  const replacement = request.replacement ?? '';
  const literal =
    request.searchByRegex === true ? replacement : replacement.replaceAll('$', '$$$$');
  const year = new Calculator(document, edit.nowMs).year;
  for (const { sheet, area } of scopes) {
    guard(edit, sheet, area);
    let touched = 0;
    for (let index = area.top; index < Math.min(area.bottom, sheet.usedRows); index++) {
      const cells = sheet.row(index)?.cells ?? [];
      const changes: [number, string][] = [];
      for (let column = area.left; column < Math.min(area.right, cells.length); column++) {
        const content = cells[column] ?? null;
        if (content === null) continue;
        if (content instanceof Formula && request.includeFormulas !== true) continue;
        const text = content instanceof Formula ? content.text : String(content);
        const hits = text.match(search)?.length ?? 0;
        if (hits === 0) continue;
        found.occurrences += hits;
        found[content instanceof Formula ? 'formulas' : 'values']++;
        changes.push([column, text.replace(search, literal)]);
      }
      if (changes.length === 0) continue;
      touched++;
      sheet.editRow(index, (row) => {
        for (const [column, text] of changes) {
          putContent(sheet, row, column, typeIn(text, locale, year).content);
        }
      });
    }
    found.rows += touched;
    if (touched > 0) found.sheets++;
  }
  return {
    findReplace: {
      ...(found.values > 0 && { valuesChanged: found.values }),
      ...(found.formulas > 0 && { formulasChanged: found.formulas }),
      ...(found.rows > 0 && { rowsChanged: found.rows }),
      ...(found.sheets > 0 && { sheetsChanged: found.sheets }),
      ...(found.occurrences > 0 && { occurrencesChanged: found.occurrences }),
    },
  };
}

/**
 * deleteDuplicates: the first of equal rows stays, letter case, formats and formulas aside; rows hidden by a filter count
 * too. Cells of the range below a removed row move up; cells beside the range stay.
 */
export function deleteDuplicates(
  edit: Edit,
  request: sheets_v4.Schema$DeleteDuplicatesRequest,
): Response {
  const { sheet, area } = located(edit, request.range);
  guard(edit, sheet, area);
  const columns = comparisonColumns(request.comparisonColumns ?? [], area);
  const calculator = new Calculator(edit.document, edit.nowMs);
  const bottom = Math.min(area.bottom, Math.max(sheet.usedRows, area.top));
  const seen = new Set<string>();
  const kept: Cell[][] = [];
  for (let row = area.top; row < bottom; row++) {
    const key = JSON.stringify(
      columns.map((column) => calculator.text(sheet, row, column).toLowerCase()),
    );
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(cellsOf(sheet, { ...area, top: row, bottom: row + 1 })[0] ?? []);
  }
  const removed = bottom - area.top - kept.length;
  const width = area.right - area.left;
  for (let at = 0; at < removed; at++) kept.push(Array.from({ length: width }, () => EMPTY_CELL));
  if (removed > 0)
    paste(edit, sheet, { ...area, bottom }, kept, { ...area, bottom }, 'PASTE_NORMAL');
  return {
    deleteDuplicates: removed > 0 ? { duplicatesRemovedCount: removed } : {},
  };
}

function comparisonColumns(
  ranges: readonly sheets_v4.Schema$DimensionRange[],
  area: Area,
): number[] {
  const all = Array.from({ length: area.right - area.left }, (_, offset) => area.left + offset);
  if (ranges.length === 0) return all;
  return all.filter((column) =>
    ranges.some(
      ({ startIndex, endIndex }) => column >= (startIndex ?? 0) && column < (endIndex ?? Infinity),
    ),
  );
}
