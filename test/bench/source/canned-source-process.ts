import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CannedRows, STATUSES, type RowSpan } from './canned-rows.ts';

// A Forms API that takes almost no time: a page is copied together from templates of bytes. Runs in its own process, started
// with the sizes of its forms by their IDs as JSON; prints its address as JSON. `POST /control` sets its delay, and returns
// when it got the first request.

const PREFIX = '/service/v1';
const LARGEST_PAGE = 100;

const sizes = JSON.parse(process.argv[2] ?? '{}') as Record<string, number>;
const forms = new Map<string, CannedRows>();
let submissions = 0;
for (const [id, size] of Object.entries(sizes)) {
  forms.set(id, new CannedRows(id, size, submissions));
  submissions += size;
}
/** Lists without a form are lists of the first form. */
const [first] = forms.values();
let latencyMs = 0;
let firstAtMs: number | null = null;

function send(response: ServerResponse, status: number, body: Buffer | string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length });
  response.end(body);
}

const instant = (text: string | null): number | null => (text === null ? null : Date.parse(text));

function page(query: URLSearchParams): Buffer | undefined {
  const formId = query.get('formId');
  const status = query.get('status');
  const rows = formId === null ? first : forms.get(formId);
  if (rows === undefined) return undefined;
  const span: RowSpan = rows.span({
    fromMs: instant(query.get('dateFrom')),
    toMs: instant(query.get('dateTo')),
    status: status === null ? null : STATUSES.indexOf(status),
  });
  return rows.page(span, {
    page: Number(query.get('page') ?? 1),
    limit: Math.min(LARGEST_PAGE, Number(query.get('limit') ?? LARGEST_PAGE)),
    oldestFirst: query.get('sortOrder') === 'asc',
  });
}

async function control(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  ({ latencyMs } = JSON.parse(text) as { latencyMs: number });
  const state = JSON.stringify({ firstAtMs });
  firstAtMs = null;
  return state;
}

function found(path: string, query: URLSearchParams): Buffer | string | undefined {
  if (path === '/submissions') return page(query);
  const [, formId] = /^\/forms\/(.+)$/.exec(path) ?? [];
  const [, one] = /^\/submissions\/sub-(.+)$/.exec(path) ?? [];
  if (one !== undefined) return first?.one(one);
  if (formId !== undefined) return jsonOf(forms.get(formId)?.form);
  if (path !== '/forms') return undefined;
  const items = [...forms.values()].map(({ form }) => form);
  return jsonOf({ items, total: items.length, page: 1, totalPages: 1 });
}

const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://canned');
  if (url.pathname === '/control') return send(response, 200, await control(request));
  firstAtMs ??= Date.now();
  if (latencyMs > 0) await pause(latencyMs);
  const body = found(url.pathname.slice(PREFIX.length), url.searchParams);
  if (body === undefined) send(response, 404, '{"message":"Not Found"}');
  else send(response, 200, body);
}

const server = createServer((request, response) => void answer(request, response));
server.keepAliveTimeout = 60_000;
// Its parent may be killed, and no other process would end it.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 1_000).unref();
server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(JSON.stringify({ origin, url: `${origin}${PREFIX}`, apiKey: 'canned_5f0c2be917' }));
});
