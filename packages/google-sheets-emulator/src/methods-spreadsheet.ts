import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { ApiError, entityNotFound } from './api-error.ts';
import { runBatch } from './batch-update.ts';
import { filterSelects, visibleMetadata } from './batch-metadata.ts';
import { Calculator } from './calculator.ts';
import { chartsForCopy } from './charts.ts';
import { flag, type Call, type Method } from './call.ts';
import { below, select } from './field-mask.ts';
import { metadataResource } from './metadata.ts';
import { overlaysForCopy } from './overlays.ts';
import type { Caller } from './protection.ts';
import { filterRegions } from './regions.ts';
import { sheetProperties } from './sheet-properties.ts';
import type { SpreadsheetFile } from './spreadsheet-files.ts';
import { spreadsheetResource, type Region } from './spreadsheet-resource.ts';
import { readableArea } from './values-read.ts';

function answer(
  call: Call,
  file: SpreadsheetFile,
  caller: Caller,
  regions: readonly Region[] | undefined,
  includeGridData: boolean,
  withoutTableBands: boolean,
  mask = call.mask,
): sheets_v4.Schema$Spreadsheet {
  return spreadsheetResource(new Calculator(file.document, call.nowMs), {
    spreadsheetId: file.id,
    caller,
    metadata: visibleMetadata(file.document, caller.project),
    regions,
    includeGridData,
    withoutTableBands,
    mask,
  });
}

function rangeRegions(file: SpreadsheetFile, ranges: readonly string[]): Region[] | undefined {
  if (ranges.length === 0) return undefined;
  return ranges.map((range) => {
    const { sheet, bounds } = file.document.locate(range);
    return { sheet, area: readableArea(sheet, bounds) };
  });
}

const get: Method = {
  name: 'spreadsheets.get',
  kind: 'read',
  masksItself: true,
  answer: 'Spreadsheet',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, false);
    const ranges = call.query.getAll('ranges');
    call.note({ ranges });
    const withGrid = flag(call.query, 'includeGridData');
    const withoutTables = flag(call.query, 'excludeTablesInBandedRanges');
    return answer(call, file, caller, rangeRegions(file, ranges), withGrid, withoutTables);
  },
};

const getByDataFilter: Method = {
  name: 'spreadsheets.getByDataFilter',
  kind: 'read',
  masksItself: true,
  body: { schema: 'GetSpreadsheetByDataFilterRequest' },
  answer: 'Spreadsheet',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, false);
    const body = call.body as sheets_v4.Schema$GetSpreadsheetByDataFilterRequest;
    const filters = body.dataFilters ?? [];
    const regions =
      filters.length === 0 ? undefined : filterRegions(file.document, filters, caller.project);
    return answer(
      call,
      file,
      caller,
      regions?.map(({ sheet, area }) => ({ sheet, area })),
      body.includeGridData === true,
      body.excludeTablesInBandedRanges === true,
    );
  },
};

const create: Method = {
  name: 'spreadsheets.create',
  kind: 'write',
  body: { schema: 'Spreadsheet' },
  answer: 'Spreadsheet',
  run(call) {
    const { email } = call.account;
    if (email.endsWith('.gserviceaccount.com')) {
      const message = "The user's Drive storage quota has been exceeded.";
      throw new ApiError('PERMISSION_DENIED', message);
    }
    const body = call.body as sheets_v4.Schema$Spreadsheet;
    const { title, locale, timeZone } = body.properties ?? {};
    if ((body.sheets ?? []).some(({ data }) => (data ?? []).length > 0)) {
      throw new ApiError('UNIMPLEMENTED', 'The emulator does not take data when it creates.');
    }
    const file = call.files.create({
      owner: email,
      ...(title && { title }),
      ...(locale && { locale }),
      ...(timeZone && { timeZone }),
    });
    const caller: Caller = { email, isOwner: true, project: call.account.project };
    const [first, ...rest] = body.sheets ?? [];
    if (first !== undefined) {
      const requests: sheets_v4.Schema$Request[] = [first, ...rest].map((sheet) => ({
        addSheet: { properties: sheet.properties ?? {} },
      }));
      call.files.change(file, caller, (edit) => {
        const original = edit.document.sheets;
        edit.document.sheets = [];
        if (original.length > 0) runBatch(edit, requests);
      });
    }
    return answer(call, file, caller, undefined, false, false);
  },
};

const batchUpdate: Method = {
  name: 'spreadsheets.batchUpdate',
  kind: 'write',
  masksItself: true,
  body: { schema: 'BatchUpdateSpreadsheetRequest' },
  answer: 'BatchUpdateSpreadsheetResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, true);
    const body = call.body as sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
    const requests = body.requests ?? [];
    call.note({ requestKinds: requests.map((request) => Object.keys(request)[0] ?? '') });
    const wanted = body.includeSpreadsheetInResponse === true;
    const inner = call.mask === undefined ? undefined : below(call.mask, 'updatedSpreadsheet');
    return call.files.change(file, caller, (edit) => {
      const replies = runBatch(edit, requests);
      const whole: sheets_v4.Schema$BatchUpdateSpreadsheetResponse = {
        spreadsheetId: file.id,
        replies,
      };
      const response = call.mask === undefined ? whole : (select(whole, call.mask) as typeof whole);
      if (!wanted || (call.mask !== undefined && inner === undefined)) return response;
      // The answer shows the state after the batch; a bad response range fails the batch as a whole.
      const after: SpreadsheetFile = { ...file, document: edit.document };
      const regions = rangeRegions(after, body.responseRanges ?? []);
      const grid = body.responseIncludeGridData === true;
      const updatedSpreadsheet = answer(call, after, caller, regions, grid, false, inner);
      return { ...response, updatedSpreadsheet };
    });
  },
};

const copyTo: Method = {
  name: 'spreadsheets.sheets.copyTo',
  kind: 'write',
  body: { schema: 'CopySheetToAnotherSpreadsheetRequest' },
  answer: 'SheetProperties',
  run(call) {
    const { file } = call.files.open(call.spreadsheetId, call.account, false);
    const body = call.body as sheets_v4.Schema$CopySheetToAnotherSpreadsheetRequest;
    const target = call.files.open(body.destinationSpreadsheetId ?? '', call.account, true);
    const source = file.document.sheets.find((sheet) => String(sheet.id) === call.resource);
    if (source === undefined) throw entityNotFound();
    return call.files.change(target.file, target.caller, (edit) => {
      const copy = source.fork(edit.nextId());
      const title = `Copy of ${source.properties.title}`;
      const taken = edit.document.byTitle(title) !== undefined;
      copy.properties = { ...source.properties, title: taken ? `${title} ${copy.id}` : title };
      copy.overlays = {
        ...overlaysForCopy(source.overlays, copy.id, edit.nextId),
        protectedRanges: [],
        filterViews: [],
        basicFilter: undefined,
      };
      copy.charts = chartsForCopy(source.charts, source.id, copy.id, edit.nextId);
      edit.document.sheets = [...edit.document.sheets, copy];
      edit.document.checkSize();
      return sheetProperties(copy, edit.document.sheets.length - 1);
    });
  },
};

const getMetadata: Method = {
  name: 'spreadsheets.developerMetadata.get',
  kind: 'read',
  answer: 'DeveloperMetadata',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, false);
    const found = visibleMetadata(file.document, caller.project).find(
      (metadata) => String(metadata.id) === call.resource,
    );
    if (found === undefined) throw entityNotFound();
    return metadataResource(found);
  },
};

const searchMetadata: Method = {
  name: 'spreadsheets.developerMetadata.search',
  kind: 'read',
  body: { schema: 'SearchDeveloperMetadataRequest' },
  answer: 'SearchDeveloperMetadataResponse',
  run(call) {
    const { file, caller } = call.files.open(call.spreadsheetId, call.account, false);
    const body = call.body as sheets_v4.Schema$SearchDeveloperMetadataRequest;
    const filters = body.dataFilters ?? [];
    const matched = visibleMetadata(file.document, caller.project).flatMap((metadata) => {
      const dataFilters = filters.filter((filter) =>
        filterSelects(file.document, filter, metadata),
      );
      if (dataFilters.length === 0) return [];
      return [{ developerMetadata: metadataResource(metadata), dataFilters }];
    });
    const response: sheets_v4.Schema$SearchDeveloperMetadataResponse =
      matched.length === 0 ? {} : { matchedDeveloperMetadata: matched };
    return response;
  },
};

/** The methods below `spreadsheets` that are not about values. */
export const SPREADSHEET_METHODS = {
  get,
  getByDataFilter,
  create,
  batchUpdate,
  copyTo,
  getMetadata,
  searchMetadata,
} as const;
