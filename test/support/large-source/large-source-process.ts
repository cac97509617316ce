import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LargeWorkspace, WIRE_STATUSES, type WorkspaceSize } from './large-workspace.ts';
import type { ControlCall, LoggedRequest } from './large-source.ts';

// The Forms API over a large workspace, from its specification alone, as a process of its own: its work is none of the
// mirror's. Started with the size of the workspace as JSON; prints its address as JSON. What happens at the source is told
// by POST /control.

const PREFIX = '/service/v1';
const LARGEST_PAGE = 100;
const USUAL_PAGE = 50;
const API_KEY = 'large_2f9d0b71c4';

type Answer = readonly [status: number, body?: unknown];

const workspace = new LargeWorkspace(JSON.parse(process.argv[2] ?? '') as WorkspaceSize);
let log: LoggedRequest[] = [];
let latencyMs = 0;
/** Lists are answered so many times more; then each request waits until it is let go. */
let listsLeft = Number.POSITIVE_INFINITY;
let held = Promise.withResolvers<void>();
let letGo = Promise.withResolvers<void>();

function instant(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text);
}

function paged(items: readonly unknown[], total: number, page: number, size: number): unknown {
  return { items, total, page, totalPages: Math.ceil(total / size) };
}

function list(query: URLSearchParams): Answer {
  const status = query.get('status') ?? undefined;
  if (status !== undefined && !WIRE_STATUSES.includes(status)) {
    return [400, { fields: { status: ['is unknown'] } }];
  }
  const narrowing = {
    formId: query.get('formId') ?? undefined,
    status,
    fromMs: instant(query.get('dateFrom')),
    toMs: instant(query.get('dateTo')),
  };
  const limit = Math.min(LARGEST_PAGE, Number(query.get('limit') ?? USUAL_PAGE));
  const page = Number(query.get('page') ?? 1);
  const oldestFirst = query.get('sortOrder') === 'asc';
  const ids = workspace.ids(narrowing, (page - 1) * limit, limit, oldestFirst);
  const items = ids.map((id) => workspace.get(id));
  return [200, { ...(paged(items, workspace.count(narrowing), page, limit) as object), limit }];
}

function patch(id: string, body: string): Answer {
  const { status = '' } = JSON.parse(body) as { status?: string };
  if (!WIRE_STATUSES.includes(status)) return [400, { fields: { status: ['is unknown'] } }];
  return workspace.setStatus(id, status) ? found(workspace.get(id)) : found(undefined);
}

function found(record: unknown): Answer {
  return record === undefined ? [404, { message: 'Not Found' }] : [200, record];
}

async function serve(request: string, query: URLSearchParams, body: string): Promise<Answer> {
  if (latencyMs > 0) await pause(latencyMs);
  const [, form] = /^GET \/forms\/([^/]+)$/.exec(request) ?? [];
  const [, one] = /^GET \/submissions\/([^/]+)$/.exec(request) ?? [];
  const [, patched] = /^PATCH \/submissions\/([^/]+)\/status$/.exec(request) ?? [];
  if (request === 'GET /forms') {
    return [200, paged(workspace.forms(), workspace.formIds.length, 1, LARGEST_PAGE)];
  }
  if (request === 'GET /submissions') {
    if (listsLeft-- <= 0) {
      held.resolve();
      await letGo.promise;
    }
    return list(query);
  }
  if (form !== undefined) return found(workspace.form(decodeURIComponent(form)));
  if (one !== undefined) return found(workspace.get(decodeURIComponent(one)));
  if (patched !== undefined) return patch(decodeURIComponent(patched), body);
  return [404, { message: 'Not Found' }];
}

async function control(call: ControlCall): Promise<unknown> {
  switch (call.do) {
    case 'takeLog': {
      const taken = log;
      log = [];
      return taken;
    }
    case 'setLatency':
      return void (latencyMs = call.latencyMs);
    case 'setStatus':
      return call.ids.map((id) => workspace.setStatus(id, call.status));
    case 'remove':
      return call.ids.map((id) => workspace.remove(id));
    case 'insert':
      return call.atMs.map((atMs) => workspace.insert(call.formId, call.status, atMs));
    case 'ids':
      return workspace.ids(call.narrowing, call.skip, call.most);
    case 'get':
      return call.ids.map((id) => workspace.get(id) ?? null);
    case 'statuses':
      return workspace
        .ids({ formId: call.formId }, 0, Number.POSITIVE_INFINITY)
        .map((id) => [id, workspace.get(id)?.status]);
    case 'count':
      return workspace.count(call.narrowing);
    case 'holdAfter':
      held = Promise.withResolvers();
      letGo = Promise.withResolvers();
      listsLeft = call.lists;
      return;
    case 'untilHeld':
      return held.promise;
    case 'letGo':
      listsLeft = Number.POSITIVE_INFINITY;
      letGo.resolve();
      return;
  }
}

async function answer(request: IncomingMessage): Promise<Answer> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const url = new URL(request.url ?? '/', 'http://large');
  if (url.pathname === '/control') {
    return [200, (await control(JSON.parse(body) as ControlCall)) ?? null];
  }
  const path = url.pathname.startsWith(PREFIX) ? url.pathname.slice(PREFIX.length) : '';
  const { authorization, 'x-api-key': header } = request.headers;
  if (authorization !== `Bearer ${API_KEY}` && header !== API_KEY) {
    return [401, { message: 'Unauthorized' }];
  }
  const entry = { atMs: Date.now(), request: `${request.method} ${path}${url.search}`, status: 0 };
  log.push(entry);
  const served = await serve(`${request.method} ${path}`, url.searchParams, body);
  entry.status = served[0];
  return served;
}

const server = createServer((request, response) => {
  void (async () => {
    const [status, body] = await answer(request);
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  })();
});
server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(JSON.stringify({ origin, url: `${origin}${PREFIX}`, apiKey: API_KEY }));
});
