import { isDeepStrictEqual } from 'node:util';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import type { Remap } from './remap.ts';

/** The location of a piece of developer metadata: a column of a tab, a tab, or, without either, the spreadsheet. */
export interface MetadataPlace {
  readonly sheetId?: number;
  readonly column?: number;
}

/** One piece of developer metadata, of DOCUMENT visibility. */
export interface Metadata {
  readonly id: number;
  readonly key: string;
  readonly value: string | undefined;
  readonly place: MetadataPlace;
}

/** Characters of keys and values together, for the spreadsheet itself and for each sheet with its rows and columns. */
const METADATA_CHARACTERS = 30_000;

/** As in the API. A sheet ID of 0 is left out of a dimension range, as in Google's responses. */
export function metadataResource(metadata: Metadata): sheets_v4.Schema$DeveloperMetadata {
  const { id, key, value, place } = metadata;
  return {
    metadataId: id,
    metadataKey: key,
    ...(value !== undefined && value !== '' && { metadataValue: value }),
    location: locationResource(place),
    visibility: 'DOCUMENT',
  };
}

function locationResource({
  sheetId,
  column,
}: MetadataPlace): sheets_v4.Schema$DeveloperMetadataLocation {
  if (sheetId === undefined) return { locationType: 'SPREADSHEET', spreadsheet: true };
  if (column === undefined) return { locationType: 'SHEET', sheetId };
  const span = { dimension: 'COLUMNS', startIndex: column, endIndex: column + 1 };
  return {
    locationType: 'COLUMN',
    dimensionRange: { ...(sheetId !== 0 && { sheetId }), ...span },
  };
}

/** The location that a request names. Throws for none, and for more than one row or column. */
export function placeOf(
  location: sheets_v4.Schema$DeveloperMetadataLocation | null | undefined,
): MetadataPlace {
  const range = location?.dimensionRange;
  if (range !== undefined && range !== null) {
    const [start, end] = [range.startIndex ?? 0, range.endIndex ?? undefined];
    if (end !== start + 1) {
      throw invalid(
        'DeveloperMetadata locations on a dimension must specify exactly one row or column.',
      );
    }
    if (range.dimension === 'ROWS') {
      const message = 'The Google Sheets emulator keeps no developer metadata of rows.';
      throw new ApiError('UNIMPLEMENTED', message);
    }
    return { sheetId: range.sheetId ?? 0, column: start };
  }
  if (location?.sheetId !== undefined && location.sheetId !== null) {
    return { sheetId: location.sheetId };
  }
  if (location?.spreadsheet === true) return {};
  throw invalid('DeveloperMetadata must specify a location.');
}

/** The metadata after rows or columns of a tab moved, without those of deleted ones. */
export function remapMetadata(
  list: readonly Metadata[],
  sheetId: number,
  dimension: 'ROWS' | 'COLUMNS',
  remap: Remap,
): Metadata[] {
  if (dimension === 'ROWS') return [...list];
  return list.flatMap((metadata) => {
    const { place } = metadata;
    if (place.column === undefined || place.sheetId !== sheetId) return [metadata];
    const column = remap.index(place.column);
    return column === undefined ? [] : [{ ...metadata, place: { sheetId, column } }];
  });
}

/**
 * The metadata that a developerMetadataLookup selects: by its ID, and if given, by its value and exact location. Throws 501 for any
 * other lookup.
 */
export function lookUp(
  list: readonly Metadata[],
  lookup: sheets_v4.Schema$DeveloperMetadataLookup,
): Metadata[] {
  const { metadataId, metadataValue, metadataLocation, locationMatchingStrategy, ...rest } = lookup;
  const isExact = locationMatchingStrategy === 'EXACT_LOCATION';
  const isKnown = Object.keys(rest).length === 0 && isExact === (metadataLocation !== undefined);
  if (typeof metadataId !== 'number' || !isKnown)
    throw new ApiError(
      'UNIMPLEMENTED',
      'The Google Sheets emulator looks developer metadata up by its ID, value, and exact location only.',
    );
  const place = isExact ? placeOf(metadataLocation) : undefined;
  return list.filter(
    (each) =>
      each.id === metadataId &&
      (metadataValue === undefined || (each.value ?? '') === metadataValue) &&
      (place === undefined || isDeepStrictEqual(each.place, place)),
  );
}

/**
 * Throws if the spreadsheet or a tab has more than Google allows. The limit is Google's ("Metadata storage limits");
 * the wording of the error is ours, because none was found.
 */
export function checkMetadataRoom(list: readonly Metadata[]): void {
  const used = new Map<number | undefined, number>();
  for (const {
    key,
    value,
    place: { sheetId },
  } of list) {
    const sum = (used.get(sheetId) ?? 0) + key.length + (value?.length ?? 0);
    if (sum > METADATA_CHARACTERS) {
      const where = sheetId === undefined ? 'spreadsheet' : `sheet ${sheetId}`;
      throw invalid(
        `Developer metadata of the ${where} would exceed the limit of ${METADATA_CHARACTERS} characters.`,
      );
    }
    used.set(sheetId, sum);
  }
}
