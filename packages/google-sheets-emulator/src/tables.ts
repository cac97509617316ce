import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import type { Remap } from './remap.ts';
import type { Area, Table } from './sheet.ts';

/*
 * Tables that people make of a range: a header row and rows below it, without types and footers.
 */

/** The cells of a table, its header included. */
export function tableArea({ range }: Pick<Table, 'range'>): Area {
  return {
    top: range.startRowIndex ?? 0,
    bottom: range.endRowIndex ?? 0,
    left: range.startColumnIndex ?? 0,
    right: range.endColumnIndex ?? 0,
  };
}

/** True when two areas share a cell. */
export const meets = (a: Area, b: Area): boolean =>
  a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;

/** The same table over another area. */
export const withArea = (table: Table, area: Area): Table => ({
  ...table,
  range: {
    ...table.range,
    startRowIndex: area.top,
    endRowIndex: area.bottom,
    startColumnIndex: area.left,
    endColumnIndex: area.right,
  },
});

/**
 * Tables after rows or columns moved: they follow as ranges do. Throws 501 where the header row would leave its table: Sheets'
 * menus don't offer that, and what the API answers is not known.
 */
export function remapTables(
  tables: readonly Table[],
  dimension: 'ROWS' | 'COLUMNS',
  remap: Remap,
): readonly Table[] {
  return tables.flatMap((table) => {
    const area = tableArea(table);
    const isRows = dimension === 'ROWS';
    const [start, end] = isRows ? [area.top, area.bottom] : [area.left, area.right];
    const span = remap.span(start, end);
    if (span === undefined) return [];
    if (!isRows) return [withArea(table, { ...area, left: span[0], right: span[1] })];
    if (remap.index(start) === span[0])
      return [withArea(table, { ...area, top: span[0], bottom: span[1] })];
    const message = 'The Google Sheets emulator does not take the header row from a table.';
    throw new ApiError('UNIMPLEMENTED', message);
  });
}

/** A table as the API answers it, without its columns. */
export const tableResource = ({ id, name, range }: Table): sheets_v4.Schema$Table => ({
  tableId: id,
  name,
  range,
});

/** The alternating colors of a table, as a banded range. */
export const tableBanding = ({ id, range }: Table): sheets_v4.Schema$BandedRange => ({
  bandedRangeReference: id,
  range,
});
