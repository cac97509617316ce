import { createHash } from 'node:crypto';
import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';

/**
 * The developer metadata that binds a spreadsheet to the mirror. It moves with rows and columns, is deleted with them, and is
 * invisible in the sheet. All of it has DOCUMENT visibility; PROJECT metadata would be lost if the Cloud project changed.
 */
export const METADATA_KEYS = {
  /** On a form's tab: the form. */
  form: 'fm.form',
  /** On a column: its {@link ColumnKey}. */
  column: 'fm.col',
  /** On a tab of our own: its role. */
  role: 'fm.role',
  /** On the column to the right of all of ours. It keeps its place as long as none of ours is deleted. */
  end: 'fm.end',
  /** On the spreadsheet: the name of the mirror's last write. */
  revision: 'fm.revision',
} as const;

/** The content of one of our columns: a part of the submission, or a field. */
export type ColumnKey = 's:id' | 's:at' | 's:status' | 's:removed' | `f:${string}`;

/** The column of a field: `f:` and 42 bits of a hash, because Google limits the metadata characters of a tab. */
export const fieldKey = (fieldId: string): ColumnKey => `f:${hashText(fieldId, 7)}`;

/** A short, stable name for a text: base64url of SHA-256. */
export const hashText = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, length);

/** Metadata as read. */
export interface MetadataEntry {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

/** What a piece of metadata is attached to. */
export type MetadataPlace =
  | { readonly spreadsheet: true }
  | { readonly sheetId: number }
  | { readonly sheetId: number; readonly column: number };

/** The readable entries of a list from the API. */
export function metadataEntries(
  list: readonly sheets_v4.Schema$DeveloperMetadata[] | null | undefined,
): MetadataEntry[] {
  return (list ?? []).flatMap(({ metadataId, metadataKey, metadataValue }) =>
    typeof metadataId === 'number' && typeof metadataKey === 'string'
      ? [{ id: metadataId, key: metadataKey, value: metadataValue ?? '' }]
      : [],
  );
}

/** A request that creates a piece of metadata. With `id`, the whole batch fails if that ID exists. */
export function createMetadata(
  place: MetadataPlace,
  key: string,
  value: string,
  id?: number,
): sheets_v4.Schema$Request {
  return {
    createDeveloperMetadata: {
      developerMetadata: {
        ...(id !== undefined && { metadataId: id }),
        metadataKey: key,
        metadataValue: value,
        visibility: 'DOCUMENT',
        location: locationOf(place),
      },
    },
  };
}

function locationOf(place: MetadataPlace): sheets_v4.Schema$DeveloperMetadataLocation {
  if ('spreadsheet' in place) return { spreadsheet: true };
  const { sheetId } = place;
  if (!('column' in place)) return { sheetId };
  const [startIndex, endIndex] = [place.column, place.column + 1];
  return { dimensionRange: { sheetId, dimension: 'COLUMNS', startIndex, endIndex } };
}

/** A piece of metadata with the place that it is attached to. */
export interface PlacedMetadata extends MetadataEntry {
  readonly place: MetadataPlace;
}

/**
 * Requests that let a batch through only if a piece of metadata is unchanged since it was read, because Sheets has no conditional
 * writes. They delete it with the place and value that were read, and create it again with its ID. If it has moved or has another
 * value by now, nothing is deleted, so the ID still exists, and Google refuses the whole batch, however late it arrives. `then`:
 * what changes about it.
 */
export const requireMetadata = (
  { id, key, value, place }: PlacedMetadata,
  then: Partial<Pick<PlacedMetadata, 'place' | 'value'>> = {},
): sheets_v4.Schema$Request[] => [
  {
    deleteDeveloperMetadata: {
      dataFilter: {
        developerMetadataLookup: {
          metadataId: id,
          metadataValue: value,
          metadataLocation: locationOf(place),
          locationMatchingStrategy: 'EXACT_LOCATION',
        },
      },
    },
  },
  createMetadata(then.place ?? place, key, then.value ?? value, id),
];

/** A request that removes a piece of metadata. */
export const deleteMetadata = (id: number): sheets_v4.Schema$Request => ({
  deleteDeveloperMetadata: { dataFilter: { developerMetadataLookup: { metadataId: id } } },
});

/**
 * The value of a tab's mark. A copy of the tab has another ID and carries the original's mark, and so binds to nothing. In a copy
 * of the file the tabs keep their IDs, so the mirror goes on in it.
 */
export const tabMark = (name: string, sheetId: number): string => JSON.stringify([name, sheetId]);

/** The form or role that a tab's marks bind it to; null if there is none. */
export function markedAs(
  marks: readonly MetadataEntry[],
  wanted: string,
  sheetId: number,
): string | null {
  for (const { key, value } of marks) {
    if (key !== wanted) continue;
    const [name, tab] = JSON.parse(value) as unknown[];
    if (typeof name === 'string' && tab === sheetId) return name;
  }
  return null;
}
