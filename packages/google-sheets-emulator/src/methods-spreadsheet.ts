import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { runBatch } from './batch-update.ts';
import { visibleMetadata } from './batch-metadata.ts';
import { Calculator } from './calculator.ts';
import { flag, type Call, type Method } from './call.ts';
import { below, select } from './field-mask.ts';
import type { Caller } from './protection.ts';
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

const batchUpdate: Method = {
  name: 'spreadsheets.batchUpdate',
  kind: 'write',
  masksItself: true,
  body: 'BatchUpdateSpreadsheetRequest',
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

/** The methods below `spreadsheets` that are not about values. */
export const SPREADSHEET_METHODS = { get, batchUpdate } as const;
