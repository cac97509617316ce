import { spawn, type ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { isRaw, type Raw } from './json-object.ts';

/** An error of the analyzer instead of a result: its own sentence, with the position at its end. */
export class AnalyzerRefusal extends Error {
  override readonly name = 'AnalyzerRefusal';
}

/** The methods of Google's analyzer that are used; its protocol has more. */
export type AnalyzerMethod =
  | 'analyze'
  | 'parse'
  | 'extractTableNamesFromStatement'
  | 'registerCatalog'
  | 'unregisterCatalog'
  | 'evaluateQuery';

/** Google's analyzer as a running process. */
export interface AnalyzerServer {
  readonly port: number;
  call(method: AnalyzerMethod, request: Raw): Promise<Raw>;
}

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
const READY_WITHIN_MS = 30_000;
/** gRPC's codes for a wrong statement: INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, UNIMPLEMENTED. */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 9, 11, 12]);

/** Ends the analyzer with this process, however it ends: its end of the pipe closes then. */
const GUARD =
  'exec 3<&0; "$0" "$@" < /dev/null & server=$!; (cat <&3 > /dev/null; kill -9 $server) 2> /dev/null & wait $server';

let running: Promise<AnalyzerServer> | undefined;

/** The analyzer of this process: started at the first call, shared by all emulators, ended with this process. */
export function analyzerServer(): Promise<AnalyzerServer> {
  running ??= start().catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

async function start(): Promise<AnalyzerServer> {
  const require = createRequire(import.meta.url);
  const home = join(dirname(require.resolve('@fivetrandevelopers/zetasql')), 'zetasql');
  const port = await freePort();
  const address = `localhost:${port}`;
  const child = spawn('/bin/sh', ['-c', GUARD, join(home, binaryName()), 'localhost', `${port}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise<never>((_, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => {
      running = undefined;
      fail(new Error(`The analyzer ended with ${code}.`));
    });
  });
  ended.catch(() => undefined);
  letGo(child);
  const definition = protoLoader.loadSync('local_service.proto', {
    oneofs: true,
    longs: String,
    enums: String,
    includeDirs: [join(home, 'protos')],
  });
  const Service = serviceOf(grpc.loadPackageDefinition(definition));
  const client = new Service(address, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.min_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 100,
  });
  await Promise.race([ready(client), ended]);
  return { port, call: (method, request) => call(client, method, request) };
}

function binaryName(): string {
  const processor = process.arch.startsWith('arm') ? '_arm' : '';
  return `remote_server${processor}${process.platform === 'darwin' ? '' : '.so'}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, '127.0.0.1', done);
  });
  const address = server.address();
  await new Promise<void>((done) => server.close(() => done()));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function serviceOf(loaded: grpc.GrpcObject): grpc.ServiceClientConstructor {
  const zetasql = loaded['zetasql'];
  const local = isRaw(zetasql) ? zetasql['local_service'] : undefined;
  const service = isRaw(local) ? local['ZetaSqlLocalService'] : undefined;
  if (typeof service !== 'function') throw new Error('The analyzer package has another protocol.');
  return service;
}

const ready = (client: grpc.Client): Promise<void> =>
  new Promise((done, fail) => {
    client.waitForReady(Date.now() + READY_WITHIN_MS, (error) =>
      error === undefined ? done() : fail(error),
    );
  });

/** Lets Node end while the analyzer only waits for the next statement. */
function letGo(child: ChildProcess): void {
  child.unref();
  const { stdin } = child;
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
}

function call(client: grpc.Client, method: AnalyzerMethod, request: Raw): Promise<Raw> {
  const send: unknown = Reflect.get(client, method);
  if (typeof send !== 'function') throw new Error(`The analyzer has no method ${method}.`);
  return new Promise((done, fail) => {
    send.call(client, request, (error: unknown, answer: unknown) => {
      if (error === null) done(isRaw(answer) ? answer : {});
      else fail(refusalOf(error) ?? error);
    });
  });
}

/** The analyzer's message about the statement; undefined for a failure of another kind. */
function refusalOf(error: unknown): AnalyzerRefusal | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('details' in error)) return undefined;
  return REFUSALS.has(Number(error.code)) ? new AnalyzerRefusal(String(error.details)) : undefined;
}
