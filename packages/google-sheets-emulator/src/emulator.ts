import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Reply, send } from '../../../src/sandbox/reply.ts';
import { Accounts } from './accounts.ts';
import { serve, type ApiRequest } from './api-service.ts';
import { RequestLog } from './request-log.ts';
import { SpreadsheetFiles, type SpreadsheetOptions } from './spreadsheet-files.ts';
import { viewReply } from './view-page.ts';

/** Options of {@link startSheetsEmulator}. */
export interface SheetsEmulatorOptions {
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** `127.0.0.1` by default. */
  readonly host?: string;
  /** Only its `now()` is used: for expiry, NOW() and the log. */
  readonly clock?: { now(): number };
}

/** A running emulator. */
export interface SheetsEmulator {
  /** `rootUrl` for the googleapis client: with a trailing slash. */
  readonly url: string;
  readonly accounts: Accounts;
  readonly requests: RequestLog;
  /** The spreadsheets, as the API finds them. */
  readonly files: SpreadsheetFiles;
  /** A new spreadsheet; returns its ID. */
  createSpreadsheet(options?: SpreadsheetOptions): string;
  stop(): Promise<void>;
}

/** Starts an emulator of the Google Sheets API v4 on loopback. Everything is in memory and lost with {@link SheetsEmulator.stop}. */
export async function startSheetsEmulator(
  options: SheetsEmulatorOptions = {},
): Promise<SheetsEmulator> {
  const clock = options.clock ?? { now: () => Date.now() };
  const now = (): number => clock.now();
  const files = new SpreadsheetFiles(now);
  const accounts = new Accounts();
  const log = new RequestLog();
  const replyTo = (read: ApiRequest): Reply => {
    const { path, query } = read;
    if (path === '/view' || path.startsWith('/view/')) return viewReply(files, path, query, now());
    return serve(read, { files, accounts, log, now });
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const read = await readRequest(request);
    response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    response.setHeader('x-content-type-options', 'nosniff');
    send(response, replyTo(read));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server, options.port ?? 0, options.host ?? '127.0.0.1');
  return {
    url,
    accounts,
    requests: log,
    files,
    createSpreadsheet: (spreadsheet = {}) => files.create(spreadsheet).id,
    async stop() {
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
