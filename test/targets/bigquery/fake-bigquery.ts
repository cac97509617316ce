import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BigQueryError } from '../../../src/targets/sql/bigquery/bigquery-errors.ts';
import { openAccount } from '../../../src/targets/google/credentials.ts';
import {
  type BigQueryJobs,
  type JobsOptions,
  openJobs,
} from '../../../src/targets/sql/bigquery/bigquery-jobs.ts';
import { DaySpending } from '../../../src/targets/sql/bigquery/bigquery-spending.ts';
import { TestClock } from '../../support/test-clock.ts';

/** A request as it came. `path` begins after the project: `queries`, `datasets/forms/tables/t`. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a request is answered with: a body, a refusal, or the end of the connection. */
export type FakeAnswer =
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | 'cut'
  | 'never';

/** A refusal as BigQuery words it. */
export const refusal = (status: number, reason: string, message: string): FakeAnswer => ({
  status,
  body: { error: { code: status, message, errors: [{ reason, message, domain: 'global' }] } },
});

/** A finished job. `columns`: `name TYPE`. */
export const done = (
  parts: Readonly<Record<string, unknown>> = {},
  columns: readonly string[] = [],
  rows: readonly (readonly (string | null)[])[] = [],
): FakeAnswer => ({
  body: {
    jobComplete: true,
    statementType: 'SELECT',
    totalBytesBilled: '10485760',
    jobReference: { projectId: 'my-project', jobId: 'job-1', location: 'EU' },
    schema: {
      fields: columns.map((column) => {
        const [name, type] = column.split(' ');
        return { name, type };
      }),
    },
    rows: rows.map((cells) => ({ f: cells.map((v) => ({ v })) })),
    ...parts,
  },
});

/** A job that runs on. */
export const running: FakeAnswer = {
  body: {
    jobComplete: false,
    jobReference: { projectId: 'my-project', jobId: 'job-1', location: 'EU' },
  },
};

/** The answers of one route, the last one for ever; a function decides by the request. */
type Route = readonly FakeAnswer[] | ((request: SeenRequest) => FakeAnswer);

/** A server that answers as a test says, and jobs opened on it. It knows nothing of BigQuery: for single calls and faults. */
export class FakeBigQuery implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly clock = new TestClock();
  readonly #routes = new Map<string, { readonly route: Route; asked: number }>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #url = '';

  static async start(): Promise<FakeBigQuery> {
    const fake = new FakeBigQuery();
    await new Promise<void>((ready) => fake.#server.listen(0, '127.0.0.1', ready));
    fake.#url = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    return fake;
  }

  get url(): string {
    return this.#url;
  }

  /** `what`: method and path, `POST queries`. */
  answer(what: string, route: Route): this {
    this.#routes.set(what, { route, asked: 0 });
    return this;
  }

  /** The requests of one route. */
  seen(what: string): SeenRequest[] {
    return this.requests.filter(({ method, path }) => `${method} ${path}` === what);
  }

  /** The bodies of `jobs.query`. */
  get queries(): SeenRequest['body'][] {
    return this.seen('POST queries').map(({ body }) => body);
  }

  async jobs(
    options: Partial<JobsOptions> & { readonly maxBytes?: number } = {},
  ): Promise<BigQueryJobs> {
    const { maxBytes, ...rest } = options;
    let ids = 0;
    return openJobs({
      project: 'my-project',
      dataset: 'forms',
      location: 'EU',
      account: await openAccount({ emulatorUrl: this.#url }, 'scope'),
      clock: this.clock,
      rootUrl: `${this.#url}/`,
      random: () => 0.5,
      newId: () => `id-${++ids}`,
      spending: new DaySpending(rest.clock ?? this.clock, maxBytes),
      ...rest,
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.#url);
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname.replace(/^\/bigquery\/v2\/projects\/my-project\/?/, ''),
      query: url.searchParams,
      headers: request.headers,
      body: parsed(Buffer.concat(chunks).toString()),
    };
    this.requests.push(seen);
    const answer = this.#answerTo(seen);
    if (answer === 'never') return;
    if (answer === 'cut') {
      request.socket.destroy();
      return;
    }
    const { status = 200, body = {}, headers = {} } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  #answerTo(request: SeenRequest): FakeAnswer {
    const known = this.#routes.get(`${request.method} ${request.path}`);
    if (known === undefined) return refusal(404, 'notFound', `Not found: ${request.path}`);
    const { route } = known;
    if (typeof route === 'function') return route(request);
    const answer = route[Math.min(known.asked++, route.length - 1)];
    return answer ?? refusal(500, 'internalError', 'The test says nothing of this.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

/** The error of something that has to fail. */
export async function failure(work: Promise<unknown>): Promise<BigQueryError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof BigQueryError) return error;
  throw new TypeError('That was to fail with a BigQueryError.', { cause: error });
}

function parsed(text: string): SeenRequest['body'] {
  return text === '' ? {} : (JSON.parse(text) as SeenRequest['body']);
}
