import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { MirrorError } from '../base/errors.ts';
import { type ApiRequest, serveRequest } from './api.ts';
import { DEFAULT_BEHAVIOUR, type SandboxBehaviour } from './behaviour.ts';
import { answer, FaultInjector, type FaultRule, type Reply } from './faults.ts';
import { Random } from './random.ts';
import { FormsStore } from './store.ts';
import { Problem, problemReply } from './wire.ts';

const MAX_BODY_BYTES = 10_000_000;
/** So many requests are remembered: a sandbox can run for days. */
const MOST_LOGGED = 100_000;

/** A request as the log keeps it: never an answer. */
export interface LoggedRequest {
  /** Counts from 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  /** Without the base prefix. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The status shown; 0 when no answer was sent. */
  readonly status: number;
}

/** Options of {@link startSandbox}. */
export interface SandboxOptions {
  /** The workspace to serve. Default: an empty one. */
  readonly store?: FormsStore;
  readonly behaviour?: Partial<SandboxBehaviour>;
  readonly faults?: readonly FaultRule[];
  /** On 127.0.0.1. Default 0: any free one. */
  readonly port?: number;
  /** Version prefix of the base address. Default `/v1`. */
  readonly basePath?: string;
  /** Default: one that the store's seed determines. */
  readonly apiKey?: string;
  /**
   * Called for each request, after its body has arrived and before anything is read or changed: the place to change the
   * store between any two requests. A promise holds this request until it resolves. If it throws or rejects, the request
   * gets a 500 and stop() rejects with the error.
   */
  readonly onRequest?: (request: ApiRequest) => void | Promise<void>;
  /** Called when the answer is handed to the network, before any client can have read it; errors as with `onRequest`. */
  readonly afterResponse?: (request: LoggedRequest) => void;
}

/** Starts a stand-in Forms API over HTTP on loopback. Throws USAGE when the port is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = new Sandbox(options);
  await sandbox.listen(options.port ?? 0);
  return sandbox;
}

/** A stand-in Forms API that is listening. */
export class Sandbox implements AsyncDisposable {
  readonly store: FormsStore;
  readonly faults: FaultInjector;
  /** The keys that are valid now; a key that is deleted is revoked. */
  readonly keys = new Set<string>();
  /** The key that it starts with. */
  readonly apiKey: string;
  behaviour: SandboxBehaviour;
  /** Base address with its version prefix, without a slash at the end. */
  url = '';
  port = 0;
  /** The newest requests, some 100,000, in the order they were answered. */
  readonly requests: LoggedRequest[] = [];
  readonly #options: SandboxOptions;
  readonly #basePath: string;
  readonly #stopping = new AbortController();
  readonly #server: Server;
  #requestCount = 0;
  #firstError: { error: unknown } | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.store = options.store ?? new FormsStore();
    this.behaviour = { ...DEFAULT_BEHAVIOUR, ...options.behaviour };
    this.faults = new FaultInjector(options.faults);
    this.apiKey = options.apiKey ?? `sandbox_${new Random('keys', this.store.seed).word(32)}`;
    this.keys.add(this.apiKey);
    this.#basePath = options.basePath ?? '/v1';
    this.#server = createServer((request, response) => void this.#handle(request, response));
    // A pause between two tests must not end a connection that the client is about to use again.
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Behaves otherwise from the next request on. */
  behave(changes: Partial<SandboxBehaviour>): void {
    this.behaviour = { ...this.behaviour, ...changes };
  }

  /** See {@link startSandbox}. */
  async listen(port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    try {
      await promise;
    } catch (error) {
      const message = `The sandbox cannot listen on port ${port}: is it taken? Choose another one, or 0 for any free one.`;
      throw new MirrorError('USAGE', message, { cause: error });
    }
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.port = address.port;
    this.url = `http://127.0.0.1:${this.port}${this.#basePath}`;
  }

  /** Breaks all connections and stops listening. Rejects with the first error of a hook, or of the stand-in itself. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#server.listening) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
      await promise;
    }
    if (this.#firstError) throw this.#firstError.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = ++this.#requestCount;
    response.on('error', () => {});
    try {
      const request = await this.#receive(message, number);
      if (request === undefined) return;
      await this.#options.onRequest?.(request);
      response.setHeader('date', new Date(this.store.now()).toUTCString());
      const fault = this.faults.take(request);
      const { signal } = this.#stopping;
      const status = await answer(response, fault, () => this.#serve(request, message), signal);
      const { method, path } = request;
      const entry = { number, method, path, query: Object.fromEntries(request.query), status };
      // In bulk, because moving the whole array for each request would be slow.
      if (this.requests.push(entry) > 1.1 * MOST_LOGGED)
        this.requests.splice(0, this.requests.length - MOST_LOGGED);
      this.#options.afterResponse?.(entry);
    } catch (error) {
      this.#fail(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  /** The request as a whole; undefined when the client went away. */
  async #receive(message: IncomingMessage, number: number): Promise<ApiRequest | undefined> {
    const body = await readText(message);
    if (body === undefined) return undefined;
    const url = new URL(message.url ?? '/', 'http://sandbox');
    const inside = url.pathname.startsWith(`${this.#basePath}/`);
    return {
      number,
      method: message.method ?? 'GET',
      path: inside ? url.pathname.slice(this.#basePath.length) : `..${url.pathname}`,
      query: url.searchParams,
      contentType: message.headers['content-type'],
      body,
    };
  }

  #serve(request: ApiRequest, { headers }: IncomingMessage): Reply {
    const { behaviour, store } = this;
    try {
      if (!this.keys.has(keyIn(headers)))
        throw new Problem(401, 'The API key is missing, wrong or revoked.');
      return serveRequest(request, { store, behaviour });
    } catch (error) {
      if (error instanceof Problem) return problemReply(error, behaviour);
      this.#fail(error);
      return problemReply(new Problem(500, 'The sandbox has a defect.'), behaviour);
    }
  }

  #fail(error: unknown): void {
    this.#firstError ??= { error };
  }
}

/** The body as text; undefined when the client went away or sent far too much. */
async function readText(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) return void message.destroy();
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The key in a request's headers; empty for none. `Authorization` decides when both ways are used. */
function keyIn({ authorization, 'x-api-key': plain }: IncomingHttpHeaders): string {
  if (authorization === undefined) return String(plain ?? '');
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
}
