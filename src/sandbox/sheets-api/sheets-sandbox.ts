import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FaultBook, type FaultRule } from '../faults.ts';
import { answer } from '../reply.ts';
import { Accounts } from './accounts.ts';
import { ApiService, type ApiRequest } from './api-service.ts';
import { Inspection } from './inspect.ts';
import { People } from './people.ts';
import { GOOGLE_LIMITS, Quotas, type QuotaLimits } from './quotas.ts';
import { RequestLog } from './request-log.ts';
import { SpreadsheetFiles, type SpreadsheetOptions } from './spreadsheet-files.ts';
import { tokenReply } from './token-endpoint.ts';
import { viewReply } from './view-page.ts';

/** What a stand-in for Google Sheets can be told at its start. */
export interface SheetsSandboxOptions {
  /** 0, the default, for a free one. */
  readonly port?: number;
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** Only its `now()` is used: for quotas, expiry, NOW() and the log. */
  readonly clock?: { now(): number };
  /** Counts requests against Google's quotas. Off by default. */
  readonly quotas?: boolean | Partial<QuotaLimits>;
  readonly faults?: readonly FaultRule[];
  /** Cloud projects in which the Sheets API was never switched on. */
  readonly disabledProjects?: readonly string[];
  /** Refuses larger bodies; by default nothing is refused, and the log tells what was over 2 MB. */
  readonly maxPayloadBytes?: number;
  /** Whether developer metadata of rows goes along with a sort. Google documents nothing; false by default. */
  readonly rowMetadataFollowsSort?: boolean;
}

/** A running stand-in for Google Sheets. */
export interface SheetsSandbox {
  /** `rootUrl` for the googleapis client: with a trailing slash. */
  readonly url: string;
  readonly accounts: Accounts;
  readonly requests: RequestLog;
  readonly faults: FaultBook;
  readonly quotas: Quotas;
  /** What people do in the browser meanwhile. */
  readonly people: People;
  /** Looks past the API at what is stored. */
  readonly inspect: Inspection;
  /** A new spreadsheet; returns its ID. */
  createSpreadsheet(options?: SpreadsheetOptions): string;
  stop(): Promise<void>;
}

/** Starts a stand-in for Google Sheets API v4 on loopback. Everything is in memory and gone with {@link SheetsSandbox.stop}. */
export async function startSheetsSandbox(
  options: SheetsSandboxOptions = {},
): Promise<SheetsSandbox> {
  const clock = options.clock ?? { now: () => Date.now() };
  const now = (): number => clock.now();
  const files = new SpreadsheetFiles(now, options.rowMetadataFollowsSort ?? false);
  const accounts = new Accounts();
  const log = new RequestLog();
  const faults = new FaultBook(options.faults);
  const given = typeof options.quotas === 'object' ? options.quotas : {};
  const quotas = new Quotas(Boolean(options.quotas), { ...GOOGLE_LIMITS, ...given });
  const service = new ApiService({
    files,
    accounts,
    quotas,
    log,
    now,
    disabledProjects: new Set(options.disabledProjects),
    maxPayloadBytes: options.maxPayloadBytes ?? Infinity,
  });
  const stopping = new AbortController();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const read = await readRequest(request);
    const { verb, path, query } = read;
    if (path === '/view' || path.startsWith('/view/')) {
      // For eyes: neither counted, nor logged, nor hit by a fault.
      await answer(
        response,
        undefined,
        () => viewReply(files, path, query, now()),
        stopping.signal,
      );
      return;
    }
    if (path === '/token' && verb === 'POST') {
      await answer(
        response,
        undefined,
        () => tokenReply(accounts, read.body, now()),
        stopping.signal,
      );
      return;
    }
    const fault = faults.take({ method: verb, path, query });
    const { serve, shown } = service.begin(read);
    shown(await answer(response, googleFault(fault), serve, stopping.signal));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  return {
    url,
    accounts,
    requests: log,
    faults,
    quotas,
    people: new People(files),
    inspect: new Inspection(files, now),
    createSpreadsheet: (spreadsheet = {}) => files.create(spreadsheet).id,
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, done);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/`;
}

async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    verb: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    authorization: request.headers.authorization,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** A fault without a body of its own gets the one that Google sends with that status. */
function googleFault(fault: FaultRule | undefined): FaultRule | undefined {
  if (fault?.status === undefined || fault.body !== undefined) return fault;
  const status = STATUS_NAMES[fault.status] ?? 'UNKNOWN';
  const message =
    fault.status === 503 ? 'The service is currently unavailable.' : 'Internal error encountered.';
  return { ...fault, body: JSON.stringify({ error: { code: fault.status, message, status } }) };
}
