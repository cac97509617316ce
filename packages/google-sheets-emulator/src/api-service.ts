import { jsonReply, htmlReply, type Reply } from '../../../src/sandbox/faults.ts';
import { checkScope, type Account, type Accounts } from './accounts.ts';
import { ApiError, badRequest, errorInfo, invalid } from './api-error.ts';
import type { Call, Method } from './call.ts';
import { responseMask, select, type Mask } from './field-mask.ts';
import { projectNumber, type Quotas } from './quotas.ts';
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
  readonly quotas: Quotas;
  readonly log: RequestLog;
  readonly now: () => number;
  /** Cloud projects in which the Sheets API was never switched on. */
  readonly disabledProjects: ReadonlySet<string>;
  /** Refuses bodies larger than this; Google has no hard limit, only its advice of 2 MB. */
  readonly maxPayloadBytes: number;
}

/** A log entry while its request is being served. */
type Draft = { -readonly [K in keyof LoggedRequest]: LoggedRequest[K] };

/** The Sheets API v4: takes requests, answers as Google does. Reads no clock and no network of its own. */
export class ApiService {
  readonly #parts: ApiServiceParts;

  constructor(parts: ApiServiceParts) {
    this.#parts = parts;
  }

  /**
   * Notes a request in the log and returns how to serve it. `shown` takes the status that the client got in the end: a
   * fault may hide the answer, or come before it.
   */
  begin(request: ApiRequest): { serve: () => Reply; shown: (status: number) => void } {
    const route = findRoute(request);
    const draft = this.#draft(request, route);
    this.#parts.log.add(draft);
    return {
      serve: () => {
        const reply = this.#answer(request, route, draft);
        draft.status = reply.status;
        draft.responseBytes = Buffer.byteLength(reply.body);
        return reply;
      },
      shown: (status) => {
        draft.status = status;
      },
    };
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
    const { accounts, quotas, files, now, maxPayloadBytes } = this.#parts;
    const nowMs = now();
    const account = accounts.authenticate(request.authorization, nowMs);
    draft.email = account.email;
    this.#checkProject(account);
    checkScope(account, method.kind === 'write', rpcName(method));
    quotas.take(method.kind, account.email, account.project, nowMs);
    if (draft.requestBytes > maxPayloadBytes) {
      throw invalid(`Request payload size exceeds the limit: ${maxPayloadBytes} bytes.`);
    }
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

  #checkProject(account: Account): void {
    if (!this.#parts.disabledProjects.has(account.project)) return;
    const number = projectNumber(account.project);
    const address = `https://console.developers.google.com/apis/api/sheets.googleapis.com/overview?project=${number}`;
    throw new ApiError(
      'PERMISSION_DENIED',
      `Google Sheets API has not been used in project ${number} before or it is disabled. Enable it by visiting ${address} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`,
      [
        {
          '@type': 'type.googleapis.com/google.rpc.Help',
          links: [{ description: 'Google developers console API activation', url: address }],
        },
        errorInfo('SERVICE_DISABLED', {
          consumer: `projects/${number}`,
          service: 'sheets.googleapis.com',
        }),
      ],
    );
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

/** `UpdateValues` for spreadsheets.values.update: the name that Google's details use. */
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
  checkShape(method.body.schema, body, method.body.path);
  return body;
}
