import { invalid } from './api-error.ts';
import type { Cell, DimensionProperties, Row } from './cell.ts';
import type { Document } from './document.ts';
import { deleteRemap, insertRemap, moveRemap } from './remap.ts';
import type { Sheet } from './sheet.ts';

/** Rows or columns. */
export type Dimension = 'ROWS' | 'COLUMNS';

/** The number of rows or columns of a tab. */
export const sizeOf = (sheet: Sheet, dimension: Dimension): number =>
  dimension === 'ROWS' ? sheet.rowCount : sheet.columnCount;

/** Data of columns, by their index: cells of a row, or properties. */
type List<T> = readonly (T | undefined)[];

/** An empty cell with the look of another one. */
const cellLike = (cell: Cell | undefined): Cell | undefined =>
  cell?.format && { content: null, format: cell.format };

/** It is not known whether Google hides a new row beside a hidden one: the worse case is assumed. */
const sizedLike = (
  properties: DimensionProperties | undefined,
): DimensionProperties | undefined => {
  if (properties === undefined) return undefined;
  const { hiddenByFilter: _, ...like } = properties;
  return Object.keys(like).length === 0 ? undefined : like;
};

/** Empty rows or columns before `at`; they take formats and size from the one at `like`. */
export function insertDimension(
  document: Document,
  sheet: Sheet,
  dimension: Dimension,
  at: number,
  count: number,
  like: number,
): void {
  if (dimension === 'ROWS') {
    const { cells, properties } = sheet.row(like) ?? { cells: [] };
    const row: Row = { cells: cells.map(cellLike), properties: sizedLike(properties) };
    const isPlain = row.properties === undefined && !row.cells.some((cell) => cell !== undefined);
    sheet.spliceRows(
      at,
      0,
      Array.from({ length: count }, () => (isPlain ? undefined : row)),
    );
  } else {
    const insert = <T>(list: List<T>, model: T | undefined): List<T> => {
      if (list.length <= at && model === undefined) return list;
      const before = Array.from({ length: at }, (_, index) => list[index]);
      return [...before, ...Array.from({ length: count }, () => model), ...list.slice(at)];
    };
    sheet.rebuildColumns(
      sheet.columnCount + count,
      (cells) => insert(cells, cellLike(cells[like])),
      (columns) => insert(columns, sizedLike(columns[like])),
    );
  }
  document.checkSize();
  document.followMove(sheet, dimension, insertRemap(at, count));
}

/** Adds plain rows or columns at the end. */
export function appendDimension(
  document: Document,
  sheet: Sheet,
  dimension: Dimension,
  count: number,
): void {
  if (dimension === 'ROWS') sheet.rowCount += count;
  else sheet.columnCount += count;
  document.checkSize();
}

/** Deletes rows or columns. Throws Google's texts if none would be left, or only frozen ones. */
export function deleteDimension(
  document: Document,
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  end: number,
): void {
  const noun = dimension === 'ROWS' ? 'rows' : 'columns';
  const frozen = dimension === 'ROWS' ? (sheet.properties.frozenRowCount ?? 0) : 0;
  const size = sizeOf(sheet, dimension);
  if (end - start >= size) throw invalid(`You can't delete all the ${noun} on the sheet.`);
  const frozenLeft = frozen - Math.max(0, Math.min(end, frozen) - start);
  if (frozen > 0 && size - (end - start) <= frozenLeft) {
    throw invalid(`Sorry, it is not possible to delete all non-frozen ${noun}.`);
  }
  const remap = deleteRemap(start, end);
  if (dimension === 'ROWS') sheet.spliceRows(start, end - start, []);
  else {
    const remove = <T>(list: List<T>): List<T> => list.toSpliced(start, end - start);
    sheet.rebuildColumns(size - (end - start), remove, remove);
  }
  if (frozenLeft < frozen) sheet.properties = { ...sheet.properties, frozenRowCount: frozenLeft };
  document.followMove(sheet, dimension, remap);
}

/** Moves rows or columns; `destination` counts before the move, as in Google's moveDimension. */
export function moveDimension(
  document: Document,
  sheet: Sheet,
  dimension: Dimension,
  start: number,
  end: number,
  destination: number,
): void {
  if (destination >= start && destination <= end) return;
  const remap = moveRemap(start, end, destination);
  const target = destination > start ? destination - (end - start) : destination;
  if (dimension === 'ROWS') {
    const block = sheet.rows(start, end);
    sheet.spliceRows(start, end - start, []);
    sheet.spliceRows(target, 0, block);
  } else {
    const move = <T>(list: List<T>): List<T> => {
      const length = Math.max(list.length, end, destination);
      const full = Array.from({ length }, (_, index) => list[index]);
      const block = full.splice(start, end - start);
      return full.toSpliced(target, 0, ...block);
    };
    sheet.rebuildColumns(sheet.columnCount, move, move);
  }
  document.followMove(sheet, dimension, remap);
}
