import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { visibleMetadata } from './batch-metadata.ts';
import { boundsOf, type Document } from './document.ts';
import { lookUp, type Metadata } from './metadata.ts';
import type { Area, Sheet } from './sheet.ts';
import { readableArea } from './values-read.ts';

/** A range that data filters matched, with the filters that did. */
export interface MatchedRegion {
  readonly sheet: Sheet;
  readonly area: Area;
  readonly filters: sheets_v4.Schema$DataFilter[];
}

/** The range that a piece of metadata hangs on; undefined for the spreadsheet itself. */
function regionOf(
  document: Document,
  { place }: Metadata,
): { sheet: Sheet; area: Area } | undefined {
  if (place.kind === 'SPREADSHEET') return undefined;
  const sheet = document.grid(place.sheetId);
  if (place.kind === 'SHEET') return { sheet, area: sheet.area };
  const area = { ...sheet.area, left: place.index, right: place.index + 1 };
  return { sheet, area };
}

/** The ranges of one data filter. A filter is one of a lookup, an A1 range and a grid range: they can't be combined. */
export function regionsOf(
  document: Document,
  filter: sheets_v4.Schema$DataFilter,
  project: string,
): { sheet: Sheet; area: Area }[] {
  const { developerMetadataLookup, a1Range, gridRange } = filter;
  const given = [developerMetadataLookup, a1Range, gridRange].filter(
    (part) => part !== undefined && part !== null,
  );
  if (given.length !== 1) throw invalid('A DataFilter must specify exactly one filter.');
  if (developerMetadataLookup) {
    const visible = visibleMetadata(document, project);
    return lookUp(visible, developerMetadataLookup).flatMap(
      (metadata) => regionOf(document, metadata) ?? [],
    );
  }
  const { sheet, bounds } = gridRange
    ? { sheet: document.grid(gridRange.sheetId), bounds: boundsOf(gridRange) }
    : document.locate(a1Range ?? '');
  return [{ sheet, area: readableArea(sheet, bounds) }];
}

const keyOf = (sheet: Sheet, area: Area): string =>
  [sheet.id, area.top, area.bottom, area.left, area.right].join(' ');

/** The ranges of several data filters; one that several filters match comes once, with all of them. */
export function filterRegions(
  document: Document,
  filters: readonly sheets_v4.Schema$DataFilter[],
  project: string,
): MatchedRegion[] {
  const found = new Map<string, MatchedRegion>();
  for (const filter of filters) {
    for (const { sheet, area } of regionsOf(document, filter, project)) {
      const key = keyOf(sheet, area);
      const known = found.get(key);
      if (known === undefined) found.set(key, { sheet, area, filters: [filter] });
      else if (!known.filters.includes(filter)) known.filters.push(filter);
    }
  }
  return [...found.values()];
}
