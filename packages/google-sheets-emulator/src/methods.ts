import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import type { Account } from './accounts.ts';
import { ApiError } from './api-error.ts';
import { runBatch } from './batch-update.ts';
import { Calculator } from './calculator.ts';
import { select, type Mask } from './field-mask.ts';
import { filterRegions } from './regions.ts';
import type { SpreadsheetFiles } from './spreadsheet-files.ts';
import { spreadsheetResource } from './spreadsheet-resource.ts';
import { readValues, requirePlainValues } from './values-read.ts';

/** One request to one method, read and authenticated. */
export interface Call {
  readonly files: SpreadsheetFiles;
  readonly account: Account;
  readonly nowMs: number;
  readonly spreadsheetId: string;
  readonly body: unknown;
  /** The `fields` parameter, in terms of the answer. */
  readonly mask: Mask;
}

/** A method of the API. */
export interface Method {
  /** What its quota counts. */
  readonly kind: 'read' | 'write';
  readonly verb: 'GET' | 'POST';
  /** What follows the ID of the spreadsheet in its address. */
  readonly suffix: string;
  /** The message that its body must fit. */
  readonly body?: string;
  /** The message it answers with. */
  readonly answer: string;
  run(call: Call): object;
}

const get: Method = {
  kind: 'read',
  verb: 'GET',
  suffix: '',
  answer: 'Spreadsheet',
  run({ files, account, spreadsheetId, mask }) {
    const { file, caller } = files.open(spreadsheetId, account, false);
    const query = { spreadsheetId, caller, mask };
    return spreadsheetResource(file.document, query);
  },
};

const batchUpdate: Method = {
  kind: 'write',
  verb: 'POST',
  suffix: ':batchUpdate',
  body: 'BatchUpdateSpreadsheetRequest',
  answer: 'BatchUpdateSpreadsheetResponse',
  run({ files, account, spreadsheetId, mask, body }) {
    const { file, caller } = files.open(spreadsheetId, account, true);
    const { requests, includeSpreadsheetInResponse } =
      body as sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
    if (includeSpreadsheetInResponse === true)
      throw new ApiError('UNIMPLEMENTED', 'The emulator answers a write with its replies only.');
    return files.change(file, caller, (edit) => {
      const replies = runBatch(edit, requests ?? []);
      return select({ spreadsheetId: file.id, replies }, mask) as object;
    });
  },
};

const batchGetByDataFilter: Method = {
  kind: 'read',
  verb: 'POST',
  suffix: '/values:batchGetByDataFilter',
  body: 'BatchGetValuesByDataFilterRequest',
  answer: 'BatchGetValuesByDataFilterResponse',
  run({ files, account, nowMs, spreadsheetId, mask, body }) {
    const { file } = files.open(spreadsheetId, account, false);
    const asked = body as sheets_v4.Schema$BatchGetValuesByDataFilterRequest;
    requirePlainValues(asked);
    const calculator = new Calculator(file.document, nowMs);
    const regions = filterRegions(file.document, asked.dataFilters ?? []);
    const valueRanges = regions.map(({ sheet, area, filters }) => ({
      valueRange: readValues(calculator, sheet, area, asked.majorDimension),
      dataFilters: filters,
    }));
    const answer = { spreadsheetId, ...(valueRanges.length > 0 && { valueRanges }) };
    return select(answer, mask) as object;
  },
};

/** The methods that the emulator has. */
export const METHODS: readonly Method[] = [get, batchUpdate, batchGetByDataFilter];
