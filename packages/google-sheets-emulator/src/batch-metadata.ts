import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, invalid } from './api-error.ts';
import type { Edit } from './edit.ts';
import {
  checkMetadataRoom,
  lookUp,
  metadataResource,
  placeOf,
  type Metadata,
  type MetadataPlace,
} from './metadata.ts';

type Response = sheets_v4.Schema$Response;

function checkPlace(edit: Edit, place: MetadataPlace): void {
  const { sheetId, column } = place;
  if (sheetId === undefined) return;
  const { columnCount: size } = edit.document.grid(sheetId);
  if (column === undefined || (column < size && column >= 0)) return;
  throw invalid(`DimensionRange.startIndex[${column}] is after last column in grid[${size}]`);
}

function fromResource(
  edit: Edit,
  resource: sheets_v4.Schema$DeveloperMetadata,
  id: number,
): Metadata {
  const { metadataKey, metadataValue, visibility } = resource;
  if (metadataKey === undefined || metadataKey === null || metadataKey === '') {
    throw invalid('DeveloperMetadata must specify a key.');
  }
  if (visibility !== 'DOCUMENT')
    throw new ApiError('UNIMPLEMENTED', 'The emulator keeps metadata of DOCUMENT visibility.');
  const place = placeOf(resource.location);
  checkPlace(edit, place);
  return { id, key: metadataKey, value: metadataValue ?? undefined, place };
}

/** createDeveloperMetadata: an ID is chosen unless the request brings a free one. */
export function createMetadata(
  edit: Edit,
  request: sheets_v4.Schema$CreateDeveloperMetadataRequest,
): Response {
  const resource = request.developerMetadata ?? {};
  const id = resource.metadataId ?? edit.nextId();
  if (edit.document.metadata.some((metadata) => metadata.id === id)) {
    throw invalid(
      `Cannot add developer metadata with ID [${id}] because developer metadata with that ID already exists.`,
    );
  }
  const metadata = fromResource(edit, resource, id);
  edit.document.metadata = [...edit.document.metadata, metadata];
  checkMetadataRoom(edit.document.metadata);
  return { createDeveloperMetadata: { developerMetadata: metadataResource(metadata) } };
}

/** deleteDeveloperMetadata: every entry the filter selects. */
export function deleteMetadata(
  edit: Edit,
  request: sheets_v4.Schema$DeleteDeveloperMetadataRequest,
): Response {
  const lookup = request.dataFilter?.developerMetadataLookup;
  if (!lookup) throw invalid('A data filter must be specified.');
  const hits = new Set(lookUp(edit.document.metadata, lookup));
  edit.document.metadata = edit.document.metadata.filter((metadata) => !hits.has(metadata));
  const deletedDeveloperMetadata = [...hits].map(metadataResource);
  return { deleteDeveloperMetadata: hits.size === 0 ? {} : { deletedDeveloperMetadata } };
}
