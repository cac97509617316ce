import { htmlReply, jsonReply, type Reply } from '../../../src/sandbox/reply.ts';
import type { Accounts } from './accounts.ts';
import { ApiError, badRequest } from './api-error.ts';
import { responseMask } from './field-mask.ts';
import { type Method, METHODS } from './methods.ts';
import type { RequestLog } from './request-log.ts';
import { checkShape } from './request-shape.ts';
import type { SpreadsheetFiles } from './spreadsheet-files.ts';

/** One HTTP request, read whole. */
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

/** The Sheets API v4: counts a request in the log, and answers it as Google does. Reads no clock and no network of its own. */
export function serve(request: ApiRequest, parts: ApiServiceParts): Reply {
  const [, id = '', suffix = ''] = /^\/v4\/spreadsheets\/([^/:]+)(.*)$/.exec(request.path) ?? [];
  const method = METHODS.find((each) => each.verb === request.verb && each.suffix === suffix);
  if (id === '' || method === undefined)
    return htmlReply(404, '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>');
  parts.log.add(method.kind);
  try {
    return jsonReply(200, JSON.stringify(run(request, method, id, parts)));
  } catch (error) {
    const shown =
      error instanceof ApiError
        ? error
        : new ApiError('INTERNAL', `Internal error encountered: ${String(error)}`);
    return jsonReply(shown.code, JSON.stringify(shown.body()));
  }
}

function run(
  request: ApiRequest,
  method: Method,
  spreadsheetId: string,
  { accounts, files, now }: ApiServiceParts,
): object {
  const account = accounts.authenticate(request.authorization);
  const fields = request.query.get('fields') ?? '';
  const mask = fields === '' ? true : responseMask(fields, method.answer);
  const body = bodyOf(request, method);
  return method.run({ files, account, nowMs: now(), spreadsheetId, body, mask });
}

function bodyOf(request: ApiRequest, method: Method): unknown {
  if (method.body === undefined) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(request.body);
  } catch {
    const description = 'Invalid JSON payload received. Unexpected token.';
    throw badRequest([{ field: '', description }]);
  }
  checkShape(method.body, body);
  return body;
}
