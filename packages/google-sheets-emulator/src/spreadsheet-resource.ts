import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import { below, type Mask, select, touches } from './field-mask.ts';
import { type Metadata, metadataResource } from './metadata.ts';
import { type Caller, protectionResource } from './protection.ts';
import type { Sheet } from './sheet.ts';
import type { Document } from './document.ts';

/** The parts of a request for a spreadsheet. */
export interface SpreadsheetQuery {
  readonly spreadsheetId: string;
  readonly caller: Caller;
  /** The `fields` parameter. Without it, Google leaves grid data out. */
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

/** The metadata of each column of a tab. The emulator does not return the content of its cells here. */
function gridResource(
  sheet: Sheet,
  metadata: readonly Metadata[],
  mask: Mask,
): sheets_v4.Schema$GridData {
  if (touches(mask, 'rowData') || touches(mask, 'rowMetadata')) {
    const message = 'The Google Sheets emulator shows the metadata of columns only.';
    throw new ApiError('UNIMPLEMENTED', message);
  }
  const columnMetadata = Array.from({ length: sheet.columnCount }, (_, at) => {
    const own = metadata.filter(({ place }) => place.sheetId === sheet.id && place.column === at);
    return own.length === 0 ? {} : { developerMetadata: own.map(metadataResource) };
  });
  return { columnMetadata };
}

function sheetResource(
  document: Document,
  sheet: Sheet,
  { caller, mask }: SpreadsheetQuery,
): sheets_v4.Schema$Sheet {
  const { metadata, sheets } = document;
  const dataMask = mask === true ? undefined : below(below(mask, 'sheets') ?? new Map(), 'data');
  const own = metadata.filter(
    ({ place }) => place.sheetId === sheet.id && place.column === undefined,
  );
  const { merges, protectedRanges, basicFilter, conditionalFormats, tables } = sheet.overlays;
  const { filterViews } = sheet.overlays;
  // The alternating colors of a table are a banded range.
  const colors = tables.map(({ tableId, range }) => ({ bandedRangeReference: tableId, range }));
  const bandedRanges = [...sheet.overlays.bandedRanges, ...colors];
  return {
    properties: sheetProperties(sheet, sheets.indexOf(sheet)),
    ...(dataMask !== undefined && { data: [gridResource(sheet, metadata, dataMask)] }),
    ...(merges.length > 0 && { merges: [...merges] }),
    ...(conditionalFormats.length > 0 && { conditionalFormats: [...conditionalFormats] }),
    ...(protectedRanges.length > 0 && {
      protectedRanges: protectedRanges.map((item) => protectionResource(item, caller)),
    }),
    ...(basicFilter !== undefined && { basicFilter }),
    ...(filterViews.length > 0 && { filterViews: [...filterViews] }),
    ...(bandedRanges.length > 0 && { bandedRanges }),
    ...(tables.length > 0 && { tables: [...tables] }),
    ...(sheet.charts.length > 0 && { charts: [...sheet.charts] }),
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
}

/** The spreadsheet as in API responses: limited to the field mask. */
export function spreadsheetResource(
  document: Document,
  query: SpreadsheetQuery,
): sheets_v4.Schema$Spreadsheet {
  const own = document.metadata.filter(({ place }) => place.sheetId === undefined);
  const spreadsheet: sheets_v4.Schema$Spreadsheet = {
    spreadsheetId: query.spreadsheetId,
    properties: document.properties,
    sheets: document.sheets.map((sheet) => sheetResource(document, sheet, query)),
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
  return select(spreadsheet, query.mask) as typeof spreadsheet;
}
