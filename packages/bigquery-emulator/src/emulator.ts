import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { jsonReply, type Reply } from '../../../src/sandbox/reply.ts';
import { answer } from '../../../test/support/faults.ts';
import { analyzerServer } from './analyzer-server.ts';
import { Analyzer } from './analyzer.ts';
import { ApiError, invalid, notDone } from './api-error.ts';
import type { Call } from './call.ts';
import { Catalog } from './catalog.ts';
import { FaultInjector } from './faults.ts';
import { GOOGLE_FAULTS } from './google-faults.ts';
import { Jobs } from './jobs.ts';
import { isRaw, textAt, type Raw } from './json-object.ts';
import { routeOf } from './router.ts';
import { StatementLog } from './statement-log.ts';
import { Store } from './store.ts';
import { TableLocks } from './transactions.ts';

/** A running emulator. */
export interface BigQueryEmulator {
  /** `rootUrl` for the googleapis client: with a trailing slash. */
  readonly url: string;
  readonly statements: StatementLog;
  readonly faults: FaultInjector;
  /** A dataset in the US that exists without a request. */
  createDataset(project: string, name: string): void;
  close(): Promise<void>;
}

const MAX_REQUEST_BYTES = 10 * 1_048_576;

/** Starts an emulator of the BigQuery API v2 on loopback. Everything is in memory and lost with `close()`. */
export async function startBigQueryEmulator(): Promise<BigQueryEmulator> {
  const [analyzer, store] = await Promise.all([
    analyzerServer().then((server) => Analyzer.over(server)),
    Store.open(),
  ]);
  const catalog = new Catalog();
  const locks = new TableLocks();
  const statements = new StatementLog();
  const world = { analyzer, catalog, locks, statements };
  const jobs = new Jobs(world, store);
  const faults = new FaultInjector();
  const stopping = new AbortController();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://emulator');
    const read = await readBody(request);
    const route = routeOf(request.method ?? 'GET', url.pathname);
    const gone = new AbortController();
    // A fixed reason avoids an exception for each request.
    response.once('close', () => gone.abort('gone'));
    const name = route?.method.name ?? 'unknown';
    const body = parsed(read);
    const serve = async (): Promise<Reply> => {
      try {
        if (!/^Bearer \S+$/i.test(request.headers.authorization ?? '')) return unauthorized();
        if (read.byteLength > MAX_REQUEST_BYTES) {
          throw new ApiError(
            'invalid',
            `Request payload size exceeds the limit: ${MAX_REQUEST_BYTES} bytes.`,
          );
        }
        if (body === undefined) throw invalid('Invalid JSON payload received.');
        if (route === undefined) throw notDone(`${request.method} ${url.pathname}`);
        const call: Call = {
          catalog,
          jobs,
          store,
          path: route.path,
          query: url.searchParams,
          body,
          ifMatch: request.headers['if-match'],
          signal: gone.signal,
        };
        return jsonReply(200, JSON.stringify(await route.method.run(call)));
      } catch (error) {
        return refused(error);
      }
    };
    const fault = faults.take({ method: name, query: textAt(body ?? {}, 'query') });
    await answer(response, fault, serve, stopping.signal);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server);
  return {
    url,
    statements,
    faults,
    createDataset: (project, name) => {
      catalog.addDataset(project, name);
    },
    async close() {
      stopping.abort();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
      locks.close();
      await jobs.close();
      store.close();
    },
  };
}

function unauthorized(): Reply {
  const { status, body } = GOOGLE_FAULTS.noCredentials;
  return jsonReply(status ?? 401, body ?? '');
}

/** The text of an error in a response. An error of the emulator itself is marked as such. */
function refused(error: unknown): Reply {
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(
          'internalError',
          `bigquery-emulator failed: ${error instanceof Error ? error.message : String(error)}`,
        );
  return jsonReply(known.code, JSON.stringify(known.body()));
}

function parsed(bytes: Buffer): Raw | undefined {
  if (bytes.byteLength === 0) return {};
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isRaw(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/`;
}
