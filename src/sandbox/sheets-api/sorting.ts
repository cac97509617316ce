import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { Calculator } from './calculator.ts';
import { CellError, type Value } from './formula-values.ts';
import { cellAt, Formula, type Cell } from './cell.ts';
import { guard, type Edit } from './edit.ts';
import { copyFormula } from './formula-moves.ts';
import type { Area, Sheet } from './sheet.ts';

/** Numbers before text before booleans before errors; empty cells stay last in both directions. */
function rank(value: Value): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  return typeof value === 'boolean' ? 2 : 3;
}

const collator = new Intl.Collator('en', { sensitivity: 'base' });

function compareValues(a: Value, b: Value): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (typeof a === 'string' && typeof b === 'string') return collator.compare(a, b);
  return a instanceof CellError ? 0 : Number(a) - Number(b);
}

const isEmpty = (value: Value): boolean => value === null || value === '';

function compareBy(a: Value, b: Value, descending: boolean): number {
  if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
  return descending ? compareValues(b, a) : compareValues(a, b);
}

/** The rows of an area in sorted order: their old indexes. Equal rows keep their order. */
function sortedRows(
  calculator: Calculator,
  sheet: Sheet,
  area: Area,
  specs: readonly sheets_v4.Schema$SortSpec[],
): number[] {
  const keys = Array.from({ length: area.bottom - area.top }, (_, offset) => ({
    row: area.top + offset,
    values: specs.map((spec) =>
      calculator.value(sheet, area.top + offset, spec.dimensionIndex ?? 0),
    ),
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

/** A cell as it reads in another row: what it refers to in its own row goes along. */
function carried(cell: Cell, from: number, to: number): Cell {
  return cell.content instanceof Formula
    ? { ...cell, content: copyFormula(cell.content, to - from, 0) }
    : cell;
}

/**
 * Sorts the rows of an area: contents, formats and notes move; heights, hidden marks and cells beside the area stay.
 * Whether developer metadata of a row goes along is not documented: see {@link Edit.rowMetadataFollowsSort}.
 */
export function sortArea(
  edit: Edit,
  sheet: Sheet,
  area: Area,
  specs: readonly sheets_v4.Schema$SortSpec[],
): void {
  guard(edit, sheet, area);
  // Rows below the stored ones are empty: they would stay at the end anyway.
  const used = { ...area, bottom: Math.min(area.bottom, sheet.usedRows) };
  if (used.bottom <= used.top) return;
  const order = sortedRows(new Calculator(edit.document, edit.nowMs), sheet, used, specs);
  const before = sheet.rows(used.top, used.bottom);
  for (const [offset, from] of order.entries()) {
    const to = used.top + offset;
    if (from === to) continue;
    const source = before[from - used.top];
    const width = Math.max(widthOf(source), widthOf(before[offset]));
    sheet.editRow(to, (row) => {
      for (let column = used.left; column < Math.min(used.right, width); column++) {
        row.cell(column, carried(cellAt(source, column), from, to));
      }
    });
  }
  if (edit.rowMetadataFollowsSort) followSort(edit, sheet, used.top, order);
}

function widthOf(row: ReturnType<Sheet['row']>): number {
  if (row === undefined) return 0;
  const noted = row.notes === undefined ? 0 : Math.max(...row.notes.keys()) + 1;
  return Math.max(row.cells.length, row.style.dresses.length, noted);
}

function followSort(edit: Edit, sheet: Sheet, top: number, order: readonly number[]): void {
  const target = new Map(order.map((from, offset) => [from, top + offset]));
  edit.document.metadata = edit.document.metadata.map((metadata) => {
    const { place } = metadata;
    if (place.kind !== 'ROW' || place.sheetId !== sheet.id) return metadata;
    return { ...metadata, place: { ...place, index: target.get(place.index) ?? place.index } };
  });
}
