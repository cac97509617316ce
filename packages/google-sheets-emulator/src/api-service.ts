import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import { htmlReply, jsonReply, type Reply } from '../../../src/sandbox/reply.ts';
import type { Account, Accounts } from './accounts.ts';
import { ApiError, badRequest } from './api-error.ts';
import { runBatch } from './batch-update.ts';
import { Calculator } from './calculator.ts';
import { type Mask, responseMask, select } from './field-mask.ts';
import { filterRegions } from './regions.ts';
import type { RequestLog } from './request-log.ts';
import { checkShape } from './request-shape.ts';
import type { SpreadsheetFiles } from './spreadsheet-files.ts';
import { spreadsheetResource } from './spreadsheet-resource.ts';
import { readValues, requirePlainValues } from './values-read.ts';

/** One HTTP request, read completely. */
export interface ApiRequest {
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: string;
}

export interface ApiServiceParts {
  readonly files: SpreadsheetFiles;
  readonly accounts: Accounts;
  readonly log: RequestLog;
  readonly now: () => number;
}

/** One request to one method, read and authenticated. */
interface Call extends ApiServiceParts {
  readonly account: Account;
  readonly spreadsheetId: string;
  readonly body: unknown;
  /** The `fields` parameter, relative to the response. */
  readonly mask: Mask;
}

interface Method {
  /** The quota that counts it. */
  readonly kind: 'read' | 'write';
  /** The message type of its body. */
  readonly takes?: string;
  /** The message type of its response. */
  readonly gives: string;
  readonly run: (call: Call) => unknown;
}

/** The supported methods, by their verb and the part after the ID of the spreadsheet in their address. */
const METHODS: ReadonlyMap<string, Method> = new Map([
  ['GET ', { kind: 'read', gives: 'Spreadsheet', run: get }],
  [
    'POST :batchUpdate',
    {
      kind: 'write',
      takes: 'BatchUpdateSpreadsheetRequest',
      gives: 'BatchUpdateSpreadsheetResponse',
      run: batchUpdate,
    },
  ],
  [
    'POST /values:batchGetByDataFilter',
    {
      kind: 'read',
      takes: 'BatchGetValuesByDataFilterRequest',
      gives: 'BatchGetValuesByDataFilterResponse',
      run: batchGetByDataFilter,
    },
  ],
]);

/**
 * The Sheets API v4: counts a request in the log, and answers it as Google does. Does not read a clock or a network itself.
 */
export function serve(request: ApiRequest, parts: ApiServiceParts): Reply {
  const { path, verb, query, authorization } = request;
  const [, spreadsheetId = '', suffix = ''] = /^\/v4\/spreadsheets\/([^/:]+)(.*)$/.exec(path) ?? [];
  const method = METHODS.get(`${verb} ${suffix}`);
  if (spreadsheetId === '' || method === undefined)
    return htmlReply(404, '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>');
  parts.log.add(method.kind);
  try {
    const account = parts.accounts.authenticate(authorization);
    const fields = query.get('fields') ?? '';
    const mask = fields === '' ? true : responseMask(fields, method.gives);
    const body = method.takes === undefined ? undefined : bodyOf(request, method.takes);
    const answer = method.run({ ...parts, account, spreadsheetId, body, mask });
    // Whoever relies on a field that Google does not send gets an error.
    checkShape(method.gives, answer);
    return jsonReply(200, JSON.stringify(answer));
  } catch (error) {
    const shown =
      error instanceof ApiError
        ? error
        : new ApiError('INTERNAL', `Internal error encountered: ${String(error)}`);
    return jsonReply(shown.code, JSON.stringify(shown.body()));
  }
}

function bodyOf(request: ApiRequest, message: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(request.body);
  } catch {
    const description = 'Invalid JSON payload received. Unexpected token.';
    throw badRequest([{ field: '', description }]);
  }
  checkShape(message, body);
  return body;
}

function get({ files, account, spreadsheetId, mask }: Call): unknown {
  const { file, caller } = files.open(spreadsheetId, account);
  return spreadsheetResource(file.document, { spreadsheetId, caller, mask });
}

function batchUpdate({ files, account, spreadsheetId, mask, body }: Call): unknown {
  const { file, caller } = files.open(spreadsheetId, account);
  const { requests, includeSpreadsheetInResponse } =
    body as sheets_v4.Schema$BatchUpdateSpreadsheetRequest;
  if (includeSpreadsheetInResponse === true)
    throw new ApiError('UNIMPLEMENTED', 'The emulator answers a write with its replies only.');
  const replies = files.change(file, caller, (edit) => runBatch(edit, requests ?? []));
  return select({ spreadsheetId, replies }, mask);
}

function batchGetByDataFilter({ files, account, now, spreadsheetId, mask, body }: Call): unknown {
  const { file } = files.open(spreadsheetId, account);
  const asked = body as sheets_v4.Schema$BatchGetValuesByDataFilterRequest;
  requirePlainValues(asked);
  const calculator = new Calculator(file.document, now());
  const regions = filterRegions(file.document, asked.dataFilters ?? []);
  const valueRanges = regions.map(({ sheet, area, filters }) => ({
    valueRange: readValues(calculator, sheet, area, asked.majorDimension),
    dataFilters: filters,
  }));
  return select({ spreadsheetId, ...(valueRanges.length > 0 && { valueRanges }) }, mask);
}
