import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, inRequest, invalid } from './api-error.ts';
import * as cells from './batch-cells.ts';
import * as charts from './batch-charts.ts';
import * as dimensions from './batch-dimensions.ts';
import * as metadata from './batch-metadata.ts';
import * as overlays from './batch-overlays.ts';
import * as sheets from './batch-sheets.ts';
import type { Edit } from './edit.ts';
import { sortRange } from './sorting.ts';
import * as tables from './batch-tables.ts';

type Requests = sheets_v4.Schema$Request;
type Handlers = {
  [K in keyof Requests]?: (
    edit: Edit,
    request: NonNullable<Requests[K]>,
  ) => sheets_v4.Schema$Response | undefined;
};

/** Every supported kind of request. */
const HANDLERS: Handlers = {
  addBanding: overlays.addBanding,
  addChart: charts.addChart,
  addConditionalFormatRule: overlays.addRule,
  addFilterView: overlays.addFilterView,
  addProtectedRange: overlays.addProtection,
  addSheet: sheets.addSheet,
  addTable: tables.addTable,
  appendDimension: dimensions.append,
  clearBasicFilter: overlays.clearBasicFilter,
  createDeveloperMetadata: metadata.createMetadata,
  deleteDeveloperMetadata: metadata.deleteMetadata,
  deleteDimension: dimensions.remove,
  deleteEmbeddedObject: charts.deleteObject,
  deleteProtectedRange: overlays.deleteProtection,
  deleteSheet: sheets.deleteSheet,
  insertDimension: dimensions.insert,
  mergeCells: overlays.mergeCells,
  moveDimension: dimensions.move,
  repeatCell: cells.repeatCell,
  setBasicFilter: overlays.setBasicFilter,
  sortRange,
  unmergeCells: overlays.unmergeCells,
  updateCells: cells.updateCells,
  updateDimensionProperties: dimensions.updateProperties,
  updateSheetProperties: sheets.updateSheetProperties,
};

function run<K extends keyof Requests>(
  edit: Edit,
  kind: K,
  request: NonNullable<Requests[K]>,
): sheets_v4.Schema$Response {
  const handler = HANDLERS[kind];
  if (handler === undefined) {
    // Google supports it; without an error a test would believe that it worked.
    throw new ApiError('UNIMPLEMENTED', `The Google Sheets emulator does not do ${kind}.`);
  }
  return handler(edit, request) ?? {};
}

/** The one kind of a request. Throws Google's error if there is none, or more than one. */
function kindOf(request: Requests, index: number): keyof Requests {
  const kinds = Object.entries(request).filter(([, body]) => body !== null && body !== undefined);
  const [first, second] = kinds;
  if (first === undefined) throw invalid(`Invalid requests[${index}]: No request set.`);
  if (second !== undefined) {
    throw invalid(
      `Invalid value at 'requests[${index}]' (oneof), oneof field 'kind' is already set. Cannot set '${second[0]}'`,
    );
  }
  return first[0] as keyof Requests;
}

/**
 * Performs the requests of one batch in order. Throws at the first invalid one; the caller then drops the document
 * copy, so that nothing of the batch stays.
 */
export function runBatch(edit: Edit, requests: readonly Requests[]): sheets_v4.Schema$Response[] {
  if (requests.length === 0) throw invalid('Must specify at least one request.');
  const kinds = requests.map(kindOf);
  const replies = kinds.map((kind, index) => {
    const request = requests[index]?.[kind];
    if (request === undefined) throw new Error('a request without a body');
    try {
      return run(edit, kind, request);
    } catch (error) {
      throw inRequest(error, index, kind);
    }
  });
  return replies;
}
