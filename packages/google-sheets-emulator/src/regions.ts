import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError } from './api-error.ts';
import { boundsOf, type Document } from './document.ts';
import { lookUp, type Metadata } from './metadata.ts';
import type { Area, Sheet } from './sheet.ts';
import { readableArea } from './values-read.ts';

/** A range that a data filter matched, with the filter. */
export interface MatchedRegion {
  readonly sheet: Sheet;
  readonly area: Area;
  readonly filters: sheets_v4.Schema$DataFilter[];
}

/** The range to which a piece of metadata belongs; undefined for the spreadsheet itself. */
function regionOf(
  document: Document,
  { place: { sheetId, column } }: Metadata,
): { sheet: Sheet; area: Area } | undefined {
  if (sheetId === undefined) return undefined;
  const sheet = document.grid(sheetId);
  const { area } = sheet;
  if (column === undefined) return { sheet, area };
  return { sheet, area: { ...area, left: column, right: column + 1 } };
}

/** The ranges of one data filter: a lookup of metadata, or a grid range. */
function regionsOf(
  document: Document,
  { developerMetadataLookup, gridRange, a1Range }: sheets_v4.Schema$DataFilter,
): { sheet: Sheet; area: Area }[] {
  if (a1Range || !developerMetadataLookup === !gridRange)
    throw new ApiError('UNIMPLEMENTED', 'The emulator filters by metadata or by a grid range.');
  if (developerMetadataLookup)
    return lookUp(document.metadata, developerMetadataLookup).flatMap(
      (metadata) => regionOf(document, metadata) ?? [],
    );
  const sheet = document.grid(gridRange?.sheetId);
  return [{ sheet, area: readableArea(sheet, boundsOf(gridRange)) }];
}

const keyOf = (sheet: Sheet, area: Area): string =>
  [sheet.id, area.top, area.bottom, area.left, area.right].join(' ');

/** The ranges of several data filters, each of which must match its own ranges. */
export function filterRegions(
  document: Document,
  filters: readonly sheets_v4.Schema$DataFilter[],
): MatchedRegion[] {
  const found = new Map<string, MatchedRegion>();
  for (const filter of filters) {
    for (const { sheet, area } of regionsOf(document, filter)) {
      const key = keyOf(sheet, area);
      if (found.has(key))
        throw new ApiError('UNIMPLEMENTED', 'The emulator reads a range for one filter only.');
      found.set(key, { sheet, area, filters: [filter] });
    }
  }
  return [...found.values()];
}
