import { jsonReply, htmlReply, type Reply } from '../../../src/sandbox/faults.ts';
import { checkScope, type Accounts } from './accounts.ts';
import { ApiError, badRequest } from './api-error.ts';
import type { Call, Method } from './call.ts';
import { responseMask, select, type Mask } from './field-mask.ts';
import type { LoggedRequest, RequestLog } from './request-log.ts';
import { checkShape, hasPath } from './request-shape.ts';
import { routeOf, type Route } from './router.ts';
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

/** A log entry while its request is being served. */
type Draft = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** The Sheets API v4: takes requests, answers as Google does. Reads no clock and no network of its own. */
export class ApiService {
  readonly #parts: ApiServiceParts;

  constructor(parts: ApiServiceParts) {
    this.#parts = parts;
  }

  /** Notes a request in the log, and answers it. */
  serve(request: ApiRequest): Reply {
    const route = findRoute(request);
    const draft = this.#draft(request, route);
    this.#parts.log.add(draft);
    const reply = this.#answer(request, route, draft);
    draft.status = reply.status;
    draft.responseBytes = Buffer.byteLength(reply.body);
    return reply;
  }

  #draft(request: ApiRequest, route: Route | undefined): Draft {
    return {
      atMs: this.#parts.now(),
      method: route?.method.name ?? 'unknown',
      kind: route?.method.kind ?? 'none',
      spreadsheetId:
        route === undefined || route.spreadsheetId === '' ? undefined : route.spreadsheetId,
      email: undefined,
      status: 0,
      requestBytes: Buffer.byteLength(request.body),
      responseBytes: 0,
      ranges: [],
      requestKinds: [],
      applied: false,
    };
  }

  #answer(request: ApiRequest, route: Route | undefined, draft: Draft): Reply {
    if (route === undefined) {
      return htmlReply(404, '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>');
    }
    try {
      const answer = this.#run(request, route, draft);
      draft.applied = route.method.kind === 'write';
      return jsonReply(200, JSON.stringify(answer));
    } catch (error) {
      const known = error instanceof ApiError ? error : undefined;
      const shown =
        known ?? new ApiError('INTERNAL', `Internal error encountered: ${String(error)}`);
      return jsonReply(shown.code, JSON.stringify(shown.body()));
    }
  }

  #run(request: ApiRequest, route: Route, draft: Draft): unknown {
    const { method, spreadsheetId, resource } = route;
    const { accounts, files, now } = this.#parts;
    const nowMs = now();
    const account = accounts.authenticate(request.authorization, nowMs);
    draft.email = account.email;
    checkScope(account, method.kind === 'write', rpcName(method));
    const mask = fieldsOf(request, method);
    const body = bodyOf(request, method);
    const call: Call = {
      files,
      account,
      nowMs,
      spreadsheetId,
      resource,
      query: request.query,
      body,
      mask,
      note(notes) {
        if (notes.ranges !== undefined) draft.ranges = notes.ranges;
        if (notes.requestKinds !== undefined) draft.requestKinds = notes.requestKinds;
      },
    };
    const answer = method.run(call);
    return mask === undefined || method.masksItself ? answer : select(answer, mask);
  }
}

function findRoute(request: ApiRequest): Route | undefined {
  try {
    return routeOf(request.verb, request.path);
  } catch {
    // A `%` that encodes nothing.
    return undefined;
  }
}

/** `GetValues` for spreadsheets.values.get: the name that Google's details use. */
function rpcName({ name }: Method): string {
  const [, ...parts] = name.split('.');
  const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  const verb = title(parts.pop() ?? '');
  const noun = title(parts.pop() ?? 'spreadsheet');
  return `${verb}${noun}`;
}

function fieldsOf(request: ApiRequest, method: Method): Mask | undefined {
  const fields = request.query.get('fields') ?? request.query.get('$fields');
  if (fields === null || fields === '') return undefined;
  return responseMask(fields, (path) => hasPath(method.answer, path));
}

function bodyOf(request: ApiRequest, method: Method): unknown {
  if (method.body === undefined) return undefined;
  if (request.body === '') return {};
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
