import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import { boundsOf } from './document.ts';
import { closedRange, guard, type Edit } from './edit.ts';
import { type Area, cellsOf, meets, type Sheet, type Table } from './sheet.ts';

/** Throws if a table is not allowed there. Google's words are known only for alternating colors. */
function checkPlace(sheet: Sheet, area: Area): void {
  const isIn = ({ range }: { range?: sheets_v4.Schema$GridRange }): boolean =>
    meets(cellsOf(range), area);
  const { tables, bandedRanges, merges, basicFilter } = sheet.overlays;
  const met = [
    [tables.some(isIn), 'overlaps an existing table'],
    [bandedRanges.some(isIn), 'already has alternating background colors'],
    [merges.some((range) => isIn({ range })), 'has merged cells'],
    [basicFilter !== undefined && isIn(basicFilter), 'has a filter'],
  ].find(([isMet]) => isMet);
  if (met !== undefined) throw invalid(`You cannot add a table to a range that ${met[1]}.`);
}

/** addTable. */
export function addTable(
  edit: Edit,
  request: sheets_v4.Schema$AddTableRequest,
): sheets_v4.Schema$Response {
  const given = request.table ?? {};
  if (!given.range) throw invalid('Must specify a range for the table.');
  if ((given.columnProperties ?? []).length > 0 || given.rowsProperties) {
    const message = 'The Google Sheets emulator does not do types and colors of tables.';
    throw new ApiError('UNIMPLEMENTED', message);
  }
  const sheet = edit.document.grid(given.range.sheetId);
  const area = sheet.areaOf(boundsOf(given.range));
  guard(edit, sheet, area);
  checkPlace(sheet, area);
  const all = edit.document.sheets.flatMap(({ overlays }) => overlays.tables);
  const tableId = given.tableId ?? String(edit.nextId());
  if (all.some((one) => one.tableId === tableId))
    throw invalid(`A table with ID ${tableId} already exists.`);
  const table: Table = {
    tableId,
    name: given.name ?? `Table${all.length + 1}`,
    range: closedRange(sheet, area),
  };
  sheet.overlays = { ...sheet.overlays, tables: [...sheet.overlays.tables, table] };
  // The first row of a tab is frozen once it is the header of a table (as observed).
  const { frozenRowCount = 0 } = sheet.properties;
  if (area.top === 0 && frozenRowCount === 0 && sheet.rowCount > 1)
    sheet.properties = { ...sheet.properties, frozenRowCount: 1 };
  return { addTable: { table } };
}

/** Throws if a range to merge is in a table; Google's words for it are not known. */
export function refuseInTable(sheet: Sheet, area: Area): void {
  if (sheet.overlays.tables.some((table) => meets(cellsOf(table.range), area)))
    throw invalid('You cannot merge cells of a table.');
}
