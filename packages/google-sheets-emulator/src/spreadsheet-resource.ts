import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Calculator } from './calculator.ts';
import { DEFAULT_FORMAT } from './cell-resource.ts';
import { below, select, touches, type Mask } from './field-mask.ts';
import { gridResource } from './grid-resource.ts';
import { metadataResource, type Metadata } from './metadata.ts';
import { protectionResource, type Caller } from './protection.ts';
import { sheetProperties } from './sheet-properties.ts';
import { tableBanding } from './banding.ts';
import { tableResource } from './tables.ts';
import type { Area, Sheet } from './sheet.ts';

/** Which part of a tab an answer is about. */
export interface Region {
  readonly sheet: Sheet;
  readonly area: Area;
}

/** The parts that a request for a spreadsheet wants: spreadsheets.get, or batchUpdate's updatedSpreadsheet. */
export interface SpreadsheetQuery {
  readonly spreadsheetId: string;
  readonly caller: Caller;
  /** Metadata that the caller may see. */
  readonly metadata: readonly Metadata[];
  /** Undefined for the whole spreadsheet. */
  readonly regions: readonly Region[] | undefined;
  readonly includeGridData: boolean;
  /** Leaves the colors of tables out of the banded ranges. */
  readonly withoutTableBands: boolean;
  /** The `fields` parameter; it decides over grid data when it is given. */
  readonly mask: Mask | undefined;
}

const rgb = (red: number, green: number, blue: number): sheets_v4.Schema$ColorStyle => ({
  rgbColor: { red, green, blue },
});

const THEME: sheets_v4.Schema$SpreadsheetTheme = {
  primaryFontFamily: 'Arial',
  themeColors: [
    { colorType: 'TEXT', color: { rgbColor: {} } },
    { colorType: 'BACKGROUND', color: rgb(1, 1, 1) },
    { colorType: 'ACCENT1', color: rgb(0.25882354, 0.52156866, 0.95686275) },
    { colorType: 'ACCENT2', color: rgb(0.91764706, 0.2627451, 0.20784314) },
    { colorType: 'ACCENT3', color: rgb(0.9843137, 0.7372549, 0.015686275) },
    { colorType: 'ACCENT4', color: rgb(0.20392157, 0.65882355, 0.3254902) },
    { colorType: 'ACCENT5', color: rgb(1, 0.42745098, 0.003921569) },
    { colorType: 'ACCENT6', color: rgb(0.27450982, 0.7411765, 0.7764706) },
    { colorType: 'LINK', color: rgb(0.06666667, 0.33333334, 0.8) },
  ],
};

/** For a request with ranges, Google returns only the merges that touch them. */
function mergesIn(sheet: Sheet, areas: readonly Area[]): sheets_v4.Schema$GridRange[] {
  return sheet.overlays.merges.filter((merge) =>
    areas.some(
      (area) =>
        (merge.startRowIndex ?? 0) < area.bottom &&
        (merge.endRowIndex ?? Infinity) > area.top &&
        (merge.startColumnIndex ?? 0) < area.right &&
        (merge.endColumnIndex ?? Infinity) > area.left,
    ),
  );
}

function overlayFields(
  sheet: Sheet,
  { caller, withoutTableBands }: SpreadsheetQuery,
  areas: readonly Area[],
): sheets_v4.Schema$Sheet {
  const { protectedRanges, basicFilter } = sheet.overlays;
  const merges = mergesIn(sheet, areas);
  const { conditionalFormats, tables } = sheet.overlays;
  const bandedRanges = [
    ...sheet.overlays.bandedRanges,
    ...(withoutTableBands ? [] : tables.map(tableBanding)),
  ];
  return {
    ...(merges.length > 0 && { merges }),
    ...(conditionalFormats.length > 0 && { conditionalFormats: [...conditionalFormats] }),
    ...(protectedRanges.length > 0 && {
      protectedRanges: protectedRanges.map((item) => protectionResource(item, caller)),
    }),
    ...(basicFilter !== undefined && { basicFilter }),
    ...(bandedRanges.length > 0 && { bandedRanges }),
    ...(tables.length > 0 && { tables: tables.map((table) => tableResource(sheet, table)) }),
    ...(sheet.charts.length > 0 && { charts: [...sheet.charts] }),
  };
}

/** A tab, with grid data of `areas` when it is wanted. */
function sheetResource(
  calculator: Calculator,
  sheet: Sheet,
  index: number,
  areas: readonly Area[],
  query: SpreadsheetQuery,
): sheets_v4.Schema$Sheet {
  const { mask, metadata } = query;
  const dataMask = mask === undefined ? true : below(below(mask, 'sheets') ?? new Map(), 'data');
  const withData = mask === undefined ? query.includeGridData : dataMask !== undefined;
  const own = metadata.filter(({ place }) => place.kind === 'SHEET' && place.sheetId === sheet.id);
  return {
    properties: sheetProperties(sheet, index),
    ...(withData && {
      data: areas.map((area) => gridResource(calculator, sheet, area, metadata, dataMask ?? true)),
    }),
    ...overlayFields(sheet, query, areas),
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
}

/** The spreadsheet as the API answers it: limited to the asked regions, then to the field mask. */
export function spreadsheetResource(
  calculator: Calculator,
  query: SpreadsheetQuery,
): sheets_v4.Schema$Spreadsheet {
  const { document } = calculator;
  const { regions, mask, metadata } = query;
  const own = metadata.filter(({ place }) => place.kind === 'SPREADSHEET');
  const wanted = document.sheets.flatMap((sheet, index) => {
    if (mask !== undefined && !touches(mask, 'sheets')) return [];
    const areas =
      regions === undefined
        ? [sheet.area]
        : regions.filter((region) => region.sheet === sheet).map(({ area }) => area);
    return areas.length === 0 ? [] : [sheetResource(calculator, sheet, index, areas, query)];
  });
  const { title, locale, autoRecalc, timeZone } = document.properties;
  const spreadsheet: sheets_v4.Schema$Spreadsheet = {
    spreadsheetId: query.spreadsheetId,
    properties: {
      title,
      locale,
      autoRecalc,
      timeZone,
      defaultFormat: DEFAULT_FORMAT,
      spreadsheetTheme: THEME,
    },
    ...(wanted.length > 0 && { sheets: wanted }),
    spreadsheetUrl: `https://docs.google.com/spreadsheets/d/${query.spreadsheetId}/edit`,
    ...(own.length > 0 && { developerMetadata: own.map(metadataResource) }),
  };
  return mask === undefined ? spreadsheet : (select(spreadsheet, mask) as typeof spreadsheet);
}
