import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answer, jsonReply, type Reply } from '../../../src/sandbox/faults.ts';
import { analyzerServer } from './analyzer-server.ts';
import { Analyzer } from './analyzer.ts';
import { ApiError, invalid } from './api-error.ts';
import type { Call } from './call.ts';
import { Catalog, type Dataset } from './catalog.ts';
import { FaultInjector } from './faults.ts';
import { GOOGLE_FAULTS } from './google-faults.ts';
import { Jobs, placeName } from './jobs.ts';
import { isRaw, textAt, type Raw } from './json-object.ts';
import { DmlQuota } from './quotas.ts';
import { Reckoning } from './reckoning.ts';
import { RequestLog } from './request-log.ts';
import { unknownAddress } from './rest-jobs.ts';
import { Router } from './router.ts';
import { prepareStatement } from './statement.ts';
import { StatementFaults } from './statement-faults.ts';
import { StatementLog } from './statement-log.ts';
import { Store } from './store.ts';
import { TableLocks } from './transactions.ts';
import type { BqField } from './types.ts';

/** Options of {@link startBigQueryEmulator}. */
export interface BigQueryEmulatorOptions {
  /** 0, the default, for a free one. */
  readonly port?: number;
  /** Only its `now()` is used: for CURRENT_TIMESTAMP(), times of resources, quotas and the age of transactions. */
  readonly clock?: { now(): number };
  /** Counts UPDATE, DELETE and MERGE statements of a table: 25 in ten seconds. Off by default. */
  readonly quotas?: boolean;
  /** Where datasets and jobs are that do not say it. `US` by default, as at Google. */
  readonly location?: string;
  /** Whose requests are answered: this bearer token alone. Any token by default; a request without one is refused. */
  readonly token?: string;
}

/** A running emulator. */
export interface BigQueryEmulator {
  /** `rootUrl` for the googleapis client: with a trailing slash. */
  readonly url: string;
  readonly requests: RequestLog;
  readonly statements: StatementLog;
  readonly faults: FaultInjector;
  /** Faults inside of jobs: conflicts of transactions, jobs that run long or are lost. */
  readonly jobs: StatementFaults;
  readonly quota: DmlQuota;
  /** Permissions that `testIamPermissions` does not grant, such as `bigquery.tables.updateData`; none at first. */
  withheldPermissions: readonly string[];
  /** A dataset that is there without a request. */
  createDataset(project: string, name: string, location?: string): void;
  close(): Promise<void>;
}

const MAX_REQUEST_BYTES = 10 * 1_048_576;
const NO_CONTENT: Reply = { status: 204, headers: {}, body: '' };

/** Starts an emulator of the BigQuery API v2 on loopback. Everything is in memory and gone with `close()`. */
export async function startBigQueryEmulator(
  options: BigQueryEmulatorOptions = {},
): Promise<BigQueryEmulator> {
  const clock = options.clock ?? { now: () => Date.now() };
  const now = (): number => clock.now();
  const homeLocation = placeName(options.location) ?? 'US';
  const [analyzer, store] = await Promise.all([
    analyzerServer().then((server) => Analyzer.over(server)),
    Store.open(),
  ]);
  const catalog = new Catalog(now);
  const locks = new TableLocks(now);
  const quota = new DmlQuota(options.quotas ?? false);
  const statements = new StatementLog();
  const statementFaults = new StatementFaults(locks);
  const world = {
    analyzer,
    catalog,
    locks,
    quota,
    reckoning: new Reckoning(),
    statements,
    now,
    beforeStatement: statementFaults.before,
  };
  const jobs = new Jobs(world, store, homeLocation);
  statementFaults.over(jobs);
  const readView = async (query: string, dataset: Dataset): Promise<readonly BqField[]> => {
    const { project, location } = dataset;
    const defaults = { project, dataset: undefined, location, prefixes: [] };
    const scope = { named: new Map(), positional: [], variables: new Map() };
    const { node } = await prepareStatement(query, { analyzer, catalog, defaults, scope });
    return node
      .list('outputColumnList')
      .map((output) => ({ name: output.text('name'), type: output.column().type }));
  };
  const router = new Router(readView);
  const requests = new RequestLog();
  const faults = new FaultInjector();
  const stopping = new AbortController();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://emulator');
    const read = await readBody(request);
    const route = router.routeOf(request.method ?? 'GET', url.pathname);
    const gone = new AbortController();
    // A reason of its own spares the making of an exception for each request.
    response.once('close', () => gone.abort('gone'));
    const name = route?.method.name ?? 'unknown';
    const body = parsed(read);
    const serve = async (): Promise<Reply> => {
      try {
        if (!isAllowed(request.headers.authorization, options.token)) return unauthorized();
        if (read.byteLength > MAX_REQUEST_BYTES) {
          throw new ApiError(
            'invalid',
            `Request payload size exceeds the limit: ${MAX_REQUEST_BYTES} bytes.`,
          );
        }
        if (body === undefined) throw invalid('Invalid JSON payload received.');
        if (route === undefined) throw unknownAddress();
        const call: Call = {
          catalog,
          jobs,
          store,
          locks,
          path: route.path,
          query: url.searchParams,
          body,
          ifMatch: request.headers['if-match'],
          homeLocation,
          withheld: new Set(emulator.withheldPermissions),
          signal: gone.signal,
        };
        const made = await route.method.run(call);
        return made === undefined ? NO_CONTENT : jsonReply(200, JSON.stringify(made));
      } catch (error) {
        return refused(error);
      }
    };
    const fault = faults.take({ method: name, query: textAt(queryOf(body ?? {}), 'query') });
    const status = await answer(response, fault, serve, stopping.signal);
    requests.add({
      atMs: now(),
      method: name,
      path: url.pathname,
      status,
      requestBytes: read.byteLength,
      requestId: body === undefined ? undefined : textAt(body, 'requestId'),
    });
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server, options.port ?? 0);
  const emulator: BigQueryEmulator = {
    url,
    requests,
    statements,
    faults,
    jobs: statementFaults,
    quota,
    withheldPermissions: [],
    createDataset: (project, name, location) => {
      catalog.addDataset(project, name, placeName(location) ?? homeLocation);
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
  return emulator;
}

/** The part of a body that has the query: of `jobs.insert` it lies deeper. */
function queryOf(body: Raw): Raw {
  const configuration = body['configuration'];
  const query = isRaw(configuration) ? configuration['query'] : undefined;
  return isRaw(query)
    ? query
    : { query: typeof body['query'] === 'string' ? body['query'] : undefined };
}

const isAllowed = (header: string | undefined, token: string | undefined): boolean =>
  token === undefined ? /^Bearer \S+$/i.test(header ?? '') : header === `Bearer ${token}`;

function unauthorized(): Reply {
  const { status, body } = GOOGLE_FAULTS.noCredentials;
  return jsonReply(status ?? 401, body ?? '');
}

/** What an error says on the wire. One of the emulator's own says so. */
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

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', done);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/`;
}
