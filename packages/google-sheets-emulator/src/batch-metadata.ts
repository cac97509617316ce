import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { invalid } from './api-error.ts';
import { boundsOf } from './document.ts';
import type { Document } from './document.ts';
import type { Edit } from './edit.ts';
import { merge, updateMask } from './field-mask.ts';
import {
  checkMetadataRoom,
  lookupMatches,
  metadataResource,
  placeOf,
  type Metadata,
  type MetadataPlace,
} from './metadata.ts';

type Response = sheets_v4.Schema$Response;

function checkPlace(edit: Edit, place: MetadataPlace): void {
  if (place.kind === 'SPREADSHEET') return;
  const sheet = edit.document.grid(place.sheetId);
  if (place.kind === 'SHEET') return;
  const size = place.kind === 'ROW' ? sheet.rowCount : sheet.columnCount;
  if (place.index < size && place.index >= 0) return;
  const noun = place.kind === 'ROW' ? 'row' : 'column';
  throw invalid(`DimensionRange.startIndex[${place.index}] is after last ${noun} in grid[${size}]`);
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
  if (visibility !== 'DOCUMENT' && visibility !== 'PROJECT') {
    throw invalid('DeveloperMetadata must specify a visibility.');
  }
  const place = placeOf(resource.location);
  checkPlace(edit, place);
  const { project } = edit.caller;
  return { id, key: metadataKey, value: metadataValue ?? undefined, visibility, project, place };
}

/** Metadata that the caller's project may see. */
export const visibleMetadata = (document: Document, project: string): Metadata[] =>
  document.metadata.filter(
    (metadata) => metadata.visibility === 'DOCUMENT' || metadata.project === project,
  );

/** True when one DataFilter of a request selects this metadata. A range selects what hangs on rows or columns in it. */
export function filterSelects(
  document: Document,
  filter: sheets_v4.Schema$DataFilter,
  metadata: Metadata,
): boolean {
  if (filter.developerMetadataLookup)
    return lookupMatches(metadata, filter.developerMetadataLookup);
  const { place } = metadata;
  if (place.kind === 'SPREADSHEET') return false;
  const located = filter.gridRange
    ? { sheet: document.grid(filter.gridRange.sheetId), bounds: boundsOf(filter.gridRange) }
    : document.locate(filter.a1Range ?? '');
  if (located.sheet.id !== place.sheetId) return false;
  const { bounds } = located;
  if (place.kind === 'SHEET') return Object.keys(bounds).length === 0;
  const [start, end, otherStart, otherEnd] =
    place.kind === 'ROW'
      ? [bounds.startRowIndex, bounds.endRowIndex, bounds.startColumnIndex, bounds.endColumnIndex]
      : [bounds.startColumnIndex, bounds.endColumnIndex, bounds.startRowIndex, bounds.endRowIndex];
  const whole = otherStart === undefined && otherEnd === undefined;
  return whole && place.index >= (start ?? 0) && place.index < (end ?? Infinity);
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

function selected(edit: Edit, filters: readonly sheets_v4.Schema$DataFilter[]): Set<Metadata> {
  const visible = visibleMetadata(edit.document, edit.caller.project);
  return new Set(
    visible.filter((metadata) =>
      filters.some((filter) => filterSelects(edit.document, filter, metadata)),
    ),
  );
}

/** updateDeveloperMetadata: every entry the filters select gets the masked fields. */
export function updateMetadata(
  edit: Edit,
  request: sheets_v4.Schema$UpdateDeveloperMetadataRequest,
): Response {
  const mask = updateMask(request.fields);
  if ((request.dataFilters ?? []).length === 0)
    throw invalid('At least one data filter must be specified.');
  const hits = selected(edit, request.dataFilters ?? []);
  const updated: sheets_v4.Schema$DeveloperMetadata[] = [];
  edit.document.metadata = edit.document.metadata.map((metadata) => {
    if (!hits.has(metadata)) return metadata;
    const given = request.developerMetadata ?? {};
    const merged = merge(metadataResource(metadata), given, mask);
    const fresh = { ...fromResource(edit, merged, metadata.id), project: metadata.project };
    updated.push(metadataResource(fresh));
    return fresh;
  });
  checkMetadataRoom(edit.document.metadata);
  return { updateDeveloperMetadata: updated.length === 0 ? {} : { developerMetadata: updated } };
}

/** deleteDeveloperMetadata: every entry the filter selects. */
export function deleteMetadata(
  edit: Edit,
  request: sheets_v4.Schema$DeleteDeveloperMetadataRequest,
): Response {
  if (!request.dataFilter) throw invalid('A data filter must be specified.');
  const hits = selected(edit, [request.dataFilter]);
  edit.document.metadata = edit.document.metadata.filter((metadata) => !hits.has(metadata));
  const deletedDeveloperMetadata = [...hits].map(metadataResource);
  return { deleteDeveloperMetadata: hits.size === 0 ? {} : { deletedDeveloperMetadata } };
}
