import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import { Formula, type Content } from './cell.ts';
import type { Remap } from './remap.ts';
import type { Area, Sheet, Table } from './sheet.ts';

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

const textOf = (content: Content): string =>
  content === null || content instanceof Formula ? '' : String(content);

/** The names of a table's columns: the texts of its header cells, once {@link settleTables} has seen to them. */
function columnNames(sheet: Sheet, table: Table): string[] {
  const { top, left, right } = tableArea(table);
  return Array.from({ length: right - left }, (_, offset) =>
    textOf(sheet.cell(top, left + offset).content),
  );
}

/**
 * Gives every column of every table a name, and no two the same one: a formula or nothing in a header cell makes way for
 * `Column 1`, and a name that is there already gets a number (so Google was seen to do it).
 */
export function settleTables(sheets: readonly Sheet[]): void {
  for (const sheet of sheets)
    for (const table of sheet.overlays.tables) {
      const { top, left } = tableArea(table);
      const taken = new Set<string>();
      for (const [offset, text] of columnNames(sheet, table).entries()) {
        const base = text === '' ? `Column ${offset + 1}` : text;
        let name = base;
        for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${base} ${number}`;
        taken.add(name.toLowerCase());
        if (name !== text) sheet.editRow(top, (row) => row.content(left + offset, name));
      }
    }
}

/** A table as the API answers it. */
export function tableResource(sheet: Sheet, table: Table): sheets_v4.Schema$Table {
  return {
    tableId: table.id,
    name: table.name,
    range: table.range,
    columnProperties: columnNames(sheet, table).map((columnName, columnIndex) =>
      columnIndex === 0 ? { columnName } : { columnIndex, columnName },
    ),
  };
}

/** The alternating colors of a table, as a banded range. */
export const tableBanding = ({ id, range }: Table): sheets_v4.Schema$BandedRange => ({
  bandedRangeReference: id,
  range,
});
