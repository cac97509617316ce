import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { FaultInjector, type FaultRule } from '../../../src/sandbox/faults.ts';
import { answer, htmlReply, type Reply } from '../../../src/sandbox/faults.ts';
import { Accounts } from './accounts.ts';
import { ApiService, type ApiRequest } from './api-service.ts';
import type { CoveredCells } from './merged-cells.ts';
import { GOOGLE_LIMITS, Quotas, type QuotaLimits } from './quotas.ts';
import { RequestLog } from './request-log.ts';
import { SpreadsheetFiles, type SpreadsheetOptions } from './spreadsheet-files.ts';
import { tokenReply } from './token-endpoint.ts';
import { viewReply } from './view-page.ts';

/** Options of {@link startSheetsEmulator}. */
export interface SheetsEmulatorOptions {
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
  /** Refuses larger bodies; by default nothing is refused, and the log marks what was over 2 MB. */
  readonly maxPayloadBytes?: number;
  /** Whether developer metadata of rows goes along with a sort. Google documents nothing; false by default. */
  readonly rowMetadataFollowsSort?: boolean;
  /** What becomes of values that are written under merged cells. Google documents nothing; `kept` by default. */
  readonly coveredCells?: CoveredCells;
}

/** A running emulator. */
export interface SheetsEmulator {
  /** `rootUrl` for the googleapis client: with a trailing slash. */
  readonly url: string;
  readonly accounts: Accounts;
  readonly requests: RequestLog;
  readonly faults: FaultInjector;
  readonly quotas: Quotas;
  /** The spreadsheets held, as the API finds them. */
  readonly files: SpreadsheetFiles;
  /** A new spreadsheet; returns its ID. */
  createSpreadsheet(options?: SpreadsheetOptions): string;
  stop(): Promise<void>;
}

/** Starts an emulator of the Google Sheets API v4 on loopback. Everything is in memory and gone with {@link SheetsEmulator.stop}. */
export async function startSheetsEmulator(
  options: SheetsEmulatorOptions = {},
): Promise<SheetsEmulator> {
  const clock = options.clock ?? { now: () => Date.now() };
  const now = (): number => clock.now();
  const files = new SpreadsheetFiles(now, {
    rowMetadataFollowsSort: options.rowMetadataFollowsSort ?? false,
    coveredCells: options.coveredCells ?? 'kept',
  });
  const accounts = new Accounts();
  const log = new RequestLog();
  const faults = new FaultInjector(options.faults);
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
    response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    response.setHeader('x-content-type-options', 'nosniff');
    if (!isOwnName(request.headers.host, options.host)) {
      const text = '<!DOCTYPE html><title>Refused</title>Open it by the address it listens on.';
      await answer(response, undefined, () => htmlReply(403, text), stopping.signal);
      return;
    }
    if (path === '/view' || path.startsWith('/view/')) {
      const view = (): Reply => viewReply(files, path, query, now());
      // Not part of the API: neither counted, nor logged, nor hit by a fault.
      await answer(response, undefined, view, stopping.signal);
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
    files,
    createSpreadsheet: (spreadsheet = {}) => files.create(spreadsheet).id,
    async stop() {
      stopping.abort();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

/**
 * True when a browser was sent here by an address that is ours. The page asks for no key, and the API for one that
 * everybody may know, so a site that lets its own name point to this machine (DNS rebinding) must read neither. Who listens on another address than loopback chose its names.
 */
function isOwnName(header: string | undefined, host = '127.0.0.1'): boolean {
  if (!isLoopback(host)) return true;
  const url = URL.parse(`http://${header ?? ''}/`);
  // The name of the API that it stands in for comes through a proxy; nobody else's page goes by it.
  return url !== null && (isLoopback(url.hostname) || url.hostname === 'sheets.googleapis.com');
}

const isLoopback = (host: string): boolean =>
  /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/i.test(host);

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
  const url = new URL(request.url ?? '/', 'http://emulator');
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
