import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { MirrorError } from '../base/errors.ts';
import { type ApiRequest, Problem, problemReply, serveRequest } from './api.ts';
import { Random } from './random.ts';
import { type Reply, send } from './reply.ts';
import type { FormsStore } from './store.ts';

const BASE_PATH = '/v1';

/** Starts a stand-in Forms API over HTTP on this port of 127.0.0.1; 0: any free one. Throws USAGE if the port is taken. */
export async function startSandbox(store: FormsStore, port = 0): Promise<Sandbox> {
  const sandbox = new Sandbox(store);
  await sandbox.listen(port);
  return sandbox;
}

/** A stand-in Forms API. */
export class Sandbox implements AsyncDisposable {
  readonly store: FormsStore;
  /** The only valid key. */
  apiKey: string;
  /** Base address with its version prefix, without a slash at the end. */
  url = '';
  readonly #server: Server;

  constructor(store: FormsStore) {
    this.store = store;
    this.apiKey = `sandbox_${new Random('keys', store.seed).word(32)}`;
    this.#server = createServer((request, response) => void this.#handle(request, response));
    // A pause between two tests must not end a connection that the client is about to use again.
    this.#server.keepAliveTimeout = 60_000;
  }

  /** See {@link startSandbox}. */
  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      const message = `The sandbox cannot listen on port ${port}: is it taken? Choose another one, or 0 for any free one.`;
      throw new MirrorError('USAGE', message, { cause: error });
    }
    const bound = this.#server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${bound.port}${BASE_PATH}`;
  }

  /** Breaks all connections and stops listening. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    const closed = this.#server[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Answers a request. `serve` makes the regular response, including its effect on the store. */
  protected answer(
    _request: ApiRequest,
    response: ServerResponse,
    serve: () => Reply,
  ): void | Promise<void> {
    send(response, serve());
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    try {
      const request = await received(message);
      response.setHeader('date', new Date(this.store.now()).toUTCString());
      await this.answer(request, response, () => this.#serve(request, message));
    } catch {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  }

  #serve(request: ApiRequest, { headers }: IncomingMessage): Reply {
    try {
      if (keyIn(headers) !== this.apiKey)
        throw new Problem(401, 'The API key is missing, wrong or revoked.');
      return serveRequest(request, this.store);
    } catch (error) {
      if (error instanceof Problem) return problemReply(error);
      throw error;
    }
  }
}

/** The whole request. Rejects if the client went away. */
async function received(message: IncomingMessage): Promise<ApiRequest> {
  const url = new URL(message.url ?? '/', 'http://sandbox');
  const inside = url.pathname.startsWith(`${BASE_PATH}/`);
  return {
    method: message.method ?? 'GET',
    path: inside ? url.pathname.slice(BASE_PATH.length) : `..${url.pathname}`,
    query: url.searchParams,
    contentType: message.headers['content-type'],
    body: await text(message),
  };
}

/** The key in a request's headers; empty if there is none. If both ways are used, `Authorization` decides. */
function keyIn({ authorization, 'x-api-key': plain }: IncomingHttpHeaders): string {
  if (authorization === undefined) return String(plain ?? '');
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
}
