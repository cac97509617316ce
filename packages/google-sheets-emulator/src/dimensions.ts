import { invalid } from './api-error.ts';
import {
  EMPTY_ROW,
  PLAIN_STYLE,
  RowStyle,
  type Content,
  type DimensionProperties,
  type CellStyle,
  type Row,
} from './cell.ts';
import type { Document } from './document.ts';
import { deleteRemap, insertRemap, moveRemap } from './remap.ts';
import type { Sheet } from './sheet.ts';

/** Rows or columns. */
export type Dimension = 'ROWS' | 'COLUMNS';

/** The number of rows or columns of a tab. */
export const sizeOf = (sheet: Sheet, dimension: Dimension): number =>
  dimension === 'ROWS' ? sheet.rowCount : sheet.columnCount;

/** Rewrites the list of one row's columns; used for cells, cell styles and column properties alike. */
type ListChange = <T>(list: readonly T[], filler: T) => T[];

function rebuild(
  sheet: Sheet,
  columnCount: number,
  change: ListChange,
  noteAt: (column: number) => number | undefined,
): void {
  const styles = new Map<RowStyle, RowStyle>([[PLAIN_STYLE, PLAIN_STYLE]]);
  const restyle = (style: RowStyle): RowStyle => {
    const known = styles.get(style);
    if (known !== undefined) return known;
    const fresh = new RowStyle(change<CellStyle | undefined>(style.cellStyles, undefined));
    styles.set(style, fresh);
    return fresh;
  };
  const renote = (notes: Row['notes']): Row['notes'] => {
    if (notes === undefined) return undefined;
    const moved = [...notes].flatMap(([column, note]) => {
      const target = noteAt(column);
      return target === undefined ? [] : [[target, note] as const];
    });
    return moved.length === 0 ? undefined : new Map(moved);
  };
  sheet.rebuildColumns(
    columnCount,
    (row) => ({
      cells: change<Content>(row.cells, null),
      style: restyle(row.style),
      notes: renote(row.notes),
      properties: row.properties,
    }),
    (columns) => change<DimensionProperties | undefined>(columns, undefined),
  );
}

/** A new row with the formats and height of its neighbor, and empty. */
function rowLike(neighbour: Row | undefined): Row | undefined {
  if (neighbour === undefined) return undefined;
  const { pixelSize } = neighbour.properties ?? {};
  const properties = pixelSize === undefined ? undefined : { pixelSize };
  if (neighbour.style === PLAIN_STYLE && properties === undefined) return undefined;
  return { ...EMPTY_ROW, style: neighbour.style, properties };
}

/** Inserts empty rows or columns before `at`; they take formats and size from the one at `like`, or the defaults when it is undefined. */
export function insertDimension(
  document: Document,
  sheet: Sheet,
  dimension: Dimension,
  at: number,
  count: number,
  like: number | undefined,
): void {
  const remap = insertRemap(at, count);
  if (dimension === 'ROWS') {
    const model = like === undefined ? undefined : rowLike(sheet.row(like));
    sheet.spliceRows(
      at,
      0,
      Array.from({ length: count }, () => model),
    );
  } else {
    insertColumns(sheet, at, count, like);
  }
  document.checkSize();
  document.followMove(sheet, dimension, remap);
}

function insertColumns(sheet: Sheet, at: number, count: number, like: number | undefined): void {
  const inherited = like === undefined ? undefined : sheet.columnProperties(like);
  const change: ListChange = (list, filler) => {
    if (list.length <= at) return [...list];
    return [
      ...list.slice(0, at),
      ...Array.from({ length: count }, () => filler),
      ...list.slice(at),
    ];
  };
  rebuild(sheet, sheet.columnCount + count, change, (column) =>
    column < at ? column : column + count,
  );
  if (like === undefined) return;
  const source = like < at ? like : like + count;
  for (let column = at; column < at + count; column++) {
    if (inherited?.pixelSize !== undefined)
      sheet.setColumnProperties(column, { pixelSize: inherited.pixelSize });
  }
  for (let index = 0; index < sheet.usedRows; index++) {
    const row = sheet.row(index);
    const cellStyle = row?.style.cellStyles[source];
    if (row === undefined || cellStyle === undefined) continue;
    let style = row.style;
    for (let column = at; column < at + count; column++) style = style.with(column, cellStyle);
    sheet.setRow(index, { ...row, style });
  }
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

/** Deletes rows or columns. Throws Google's texts when none would be left, or none but frozen ones. */
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
    const change: ListChange = (list) => [...list.slice(0, start), ...list.slice(end)];
    rebuild(sheet, size - (end - start), change, remap.index);
  }
  if (frozenLeft < frozen) sheet.properties = { ...sheet.properties, frozenRowCount: frozenLeft };
  document.followMove(sheet, dimension, remap);
}

/** Moves rows or columns; `destination` counts before the move, as Google's moveDimension does. */
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
    const change: ListChange = (list, filler) => {
      const full = [...list];
      while (full.length < Math.max(end, destination)) full.push(filler);
      const block = full.splice(start, end - start);
      full.splice(target, 0, ...block);
      return full;
    };
    rebuild(sheet, sheet.columnCount, change, remap.index);
  }
  document.followMove(sheet, dimension, remap);
}
