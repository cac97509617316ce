import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A field, a form and a submission as the wire has them. */
export interface PlainForm {
  id: string;
  name: string;
  slug: string;
  isPublished: boolean;
  createdAt: string;
  schema: { sections?: { fields?: { id: string; label: string }[] }[]; logic: unknown[] };
}
export interface PlainSubmission {
  id: string;
  formId: string;
  status: string;
  createdAt: string;
  data: Record<string, string | number>;
}

const STATUSES = new Set(['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED']);
const LARGEST_PAGE = 100;
const FORMS_PAGE = 2;

type Answer = readonly [status: number, body?: unknown];

/**
 * The Forms API once more, from its specification alone and with nothing of the stand-in that the program brings along:
 * what both understand, they understand by the specification. Arrays, and a filter for each question.
 */
export class PlainFormsServer implements AsyncDisposable {
  readonly apiKey = 'plain_5b1f0c7e9a';
  forms: PlainForm[] = [];
  submissions: PlainSubmission[] = [];
  /** Refuses to list the submissions of the whole workspace. */
  needsFormId = false;
  /** `GET /submissions` and the like, in order of arrival. */
  readonly requests: string[] = [];
  /** The same requests: when each came (milliseconds), in which header its key was, and how it was answered. */
  readonly arrivals: { readonly atMs: number; readonly auth: string; readonly status: number }[] =
    [];
  /** More in any minute are answered with 429. */
  quotaPerMinute = Infinity;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<PlainFormsServer> {
    const server = new PlainFormsServer();
    await new Promise<void>((done) => server.#server.listen(0, '127.0.0.1', done));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/service/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const url = new URL(request.url ?? '/', 'http://plain');
    const path = url.pathname.replace(/^\/service\/v1/, '');
    this.requests.push(`${request.method} ${path}`);
    const { authorization, 'x-api-key': header } = request.headers;
    const isAllowed = authorization === `Bearer ${this.apiKey}` || header === this.apiKey;
    const atMs = performance.now();
    const [status, body] = !isAllowed
      ? [401, { message: 'Unauthorized' }]
      : this.#isOverQuota(atMs)
        ? [429, { message: 'Too Many Requests' }]
        : this.#answer(`${request.method} ${path}`, url.searchParams, text);
    this.arrivals.push({ atMs, auth: header === undefined ? 'bearer' : 'x-api-key', status });
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  #isOverQuota(atMs: number): boolean {
    const lately = this.arrivals.filter((one) => one.status !== 429 && one.atMs > atMs - 60_000);
    return lately.length >= this.quotaPerMinute;
  }

  #answer(request: string, query: URLSearchParams, body: string): Answer {
    const [, form] = /^GET \/forms\/([^/]+)$/.exec(request) ?? [];
    const [, one] = /^GET \/submissions\/([^/]+)$/.exec(request) ?? [];
    const [, patched] = /^PATCH \/submissions\/([^/]+)\/status$/.exec(request) ?? [];
    if (request === 'GET /forms') return [200, paged(this.forms, query, FORMS_PAGE)];
    if (request === 'GET /submissions') {
      const isRefused = this.needsFormId && !query.has('formId');
      return isRefused ? [400, { fields: { formId: ['is required'] } }] : [200, this.#list(query)];
    }
    if (form) return found(this.forms.find(({ id }) => id === form));
    if (one) return found(this.submissions.find(({ id }) => id === one));
    if (patched) return this.#patch(patched, JSON.parse(body) as { status?: string });
    return [404, { message: 'Not Found' }];
  }

  #list(query: URLSearchParams): unknown {
    const is = (name: string, value: string): boolean => (query.get(name) ?? value) === value;
    const from = query.get('dateFrom') ?? '';
    const to = query.get('dateTo') ?? '9';
    const matching = this.submissions
      .filter(({ formId, status }) => is('formId', formId) && is('status', status))
      .filter(({ createdAt }) => createdAt >= from && createdAt <= to)
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id));
    const limit = Math.min(LARGEST_PAGE, Number(query.get('limit') ?? 50));
    return { ...paged(matching, query, limit), limit };
  }

  #patch(id: string, { status = '' }: { status?: string }): Answer {
    const submission = this.submissions.find((each) => each.id === id);
    if (!submission) return [404, { message: 'Not Found' }];
    if (!STATUSES.has(status)) return [400, { fields: { status: ['is unknown'] } }];
    submission.status = status;
    return [200, submission];
  }
}

function paged(records: readonly unknown[], query: URLSearchParams, size: number) {
  const page = Number(query.get('page') ?? 1);
  const items = records.slice((page - 1) * size, page * size);
  return { items, total: records.length, page, totalPages: Math.ceil(records.length / size) };
}

function found(record: unknown): Answer {
  return record === undefined ? [404, { message: 'Not Found' }] : [200, record];
}
