import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';

import { type Content, Formula } from './cell.ts';
import { below, type Mask, select, touches } from './field-mask.ts';
import { type Metadata, metadataResource } from './metadata.ts';
import { type Caller, protectionResource } from './protection.ts';
import type { Area, Sheet } from './sheet.ts';
import { meets, tableBanding, tableResource } from './tables.ts';
import { boundsOf, type Document } from './document.ts';

/** Which part of a tab an answer is about. */
export interface Region {
  readonly sheet: Sheet;
  readonly area: Area;
}

/** The parts that a request for a spreadsheet wants: spreadsheets.get, or batchUpdate's updatedSpreadsheet. */
export interface SpreadsheetQuery {
  readonly spreadsheetId: string;
  readonly caller: Caller;
  /** Undefined for the whole spreadsheet. */
  readonly regions: readonly Region[] | undefined;
  /** The `fields` parameter. Without one Google leaves grid data out. */
  readonly mask: Mask;
}

/** A tab's properties in API responses, without those at their default. */
export function sheetProperties(sheet: Sheet, index: number): sheets_v4.Schema$SheetProperties {
  const { title, hidden, frozenRowCount, hideGridlines } = sheet.properties;
  const { rowCount, columnCount } = sheet;
  return {
    sheetId: sheet.id,
    title,
    index,
    sheetType: 'GRID',
    gridProperties: {
      rowCount,
      columnCount,
      ...(frozenRowCount !== undefined && { frozenRowCount }),
      ...(hideGridlines === true && { hideGridlines }),
    },
    ...(hidden === true && { hidden }),
  };
}

function enteredValue(content: Content): sheets_v4.Schema$ExtendedValue {
  if (content instanceof Formula) return { formulaValue: content.text };
  if (typeof content === 'string') return { stringValue: content };
  return typeof content === 'number' ? { numberValue: content } : { boolValue: content };
}

/** What was entered into the cells of a row, without the empty ones at its end. */
function rowResource(sheet: Sheet, row: number, { left, right }: Area): sheets_v4.Schema$RowData {
  const cells = sheet.row(row)?.cells.slice(left, right) ?? [];
  const filled = cells.findLastIndex((content) => content !== null) + 1;
  const values = cells
    .slice(0, filled)
    .map((content) => (content === null ? {} : { userEnteredValue: enteredValue(content) }));
  return filled === 0 ? {} : { values };
}

/** One area as GridData: rows and cells without content are trimmed at the end; `startRow` and `startColumn` of 0 are left out. */
function gridResource(
  sheet: Sheet,
  area: Area,
  metadata: readonly Metadata[],
  mask: Mask,
): sheets_v4.Schema$GridData {
  const { top, bottom, left, right } = area;
  const values = below(below(mask, 'rowData') ?? new Map(), 'values');
  const isOther =
    values === true || [...(values?.keys() ?? [])].some((name) => name !== 'userEnteredValue');
  if (isOther || touches(mask, 'rowMetadata')) {
    const message = 'The Google Sheets emulator shows what was entered into cells only.';
    throw new ApiError('UNIMPLEMENTED', message);
  }
  const rows = values === undefined ? 0 : Math.min(bottom, sheet.contentEnd) - top;
  const rowData = Array.from({ length: Math.max(0, rows) }, (_, at) =>
    rowResource(sheet, top + at, area),
  );
  while (rowData.length > 0 && rowData.at(-1)?.values === undefined) rowData.pop();
  const columnMetadata = Array.from({ length: right - left }, (_, at) => {
    const own = metadata.filter(
      ({ place }) =>
        place.kind === 'COLUMN' && place.sheetId === sheet.id && place.index === left + at,
    );
    return own.length === 0 ? {} : { developerMetadata: own.map(metadataResource) };
  });
  return {
    ...(top > 0 && { startRow: top }),
    ...(left > 0 && { startColumn: left }),
    ...(rowData.length > 0 && { rowData }),
    columnMetadata,
  };
}

/** A tab, with grid data of `areas` where the mask wants it. */
function sheetResource(
  document: Document,
  sheet: Sheet,
  areas: readonly Area[],
  { caller, mask }: SpreadsheetQuery,
): sheets_v4.Schema$Sheet {
  const { metadata, sheets } = document;
  const dataMask = mask === true ? undefined : below(below(mask, 'sheets') ?? new Map(), 'data');
  const own = metadata.filter(({ place }) => place.kind === 'SHEET' && place.sheetId === sheet.id);
  const { protectedRanges, basicFilter, conditionalFormats, tables } = sheet.overlays;
  // For a request with ranges, Google returns only the merges that touch them.
  const merges = sheet.overlays.merges.filter((merge) =>
    areas.some((area) => meets(sheet.areaOf(boundsOf(merge)), area)),
  );
  const bandedRanges = [...sheet.overlays.bandedRanges, ...tables.map(tableBanding)];
  return {
    properties: sheetProperties(sheet, sheets.indexOf(sheet)),
    ...(dataMask !== undefined && {
      data: areas.map((area) => gridResource(sheet, area, metadata, dataMask)),
    }),
    ...(merges.length > 0 && { merges }),
    ...(conditionalFormats.length > 0 && { conditionalFormats: [...conditionalFormats] }),
    ...(protectedRanges.length > 0 && {
      protectedRanges: protectedRanges.map((item) => protectionResource(item, caller)),
    }),
    ...(basicFilter !== undefined && { basicFilter }),
    ...(bandedRanges.length > 0 && { bandedRanges }),
    ...(tables.length > 0 && { tables: tables.map(tableResource) }),
    ...(sheet.charts.length > 0 && { charts: [...sheet.charts] }),
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
}

/** The spreadsheet as the API answers it: limited to the asked regions, then to the field mask. */
export function spreadsheetResource(
  document: Document,
  query: SpreadsheetQuery,
): sheets_v4.Schema$Spreadsheet {
  const { spreadsheetId, regions, mask } = query;
  const own = document.metadata.filter(({ place }) => place.kind === 'SPREADSHEET');
  const sheets = document.sheets.flatMap((sheet) => {
    const areas =
      regions === undefined
        ? [sheet.area]
        : regions.filter((region) => region.sheet === sheet).map(({ area }) => area);
    return areas.length === 0 ? [] : [sheetResource(document, sheet, areas, query)];
  });
  const spreadsheet: sheets_v4.Schema$Spreadsheet = {
    spreadsheetId,
    properties: document.properties,
    ...(sheets.length > 0 && { sheets }),
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
  return select(spreadsheet, mask) as typeof spreadsheet;
}
