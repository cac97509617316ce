import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as an {@link OddServer} got it, including its body. */
export interface OddRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Counts from 0. */
  readonly number: number;
  /** Counts connections from 0: the connection of this request. */
  readonly connection: number;
}

/** Answers one request as oddly as a test needs it. */
export type OddHandler = (request: OddRequest, response: ServerResponse) => unknown;

/** An HTTP server on loopback that behaves as its handler does, and records its requests. */
export class OddServer implements AsyncDisposable {
  readonly requests: OddRequest[] = [];
  readonly #server;
  #connections = 0;
  handler: OddHandler;

  constructor(handler: OddHandler) {
    this.handler = handler;
    const numbers = new WeakMap<object, number>();
    this.#server = createServer(
      (message, response) => void this.#serve(message, response, numbers),
    );
    this.#server.on('connection', (socket) => numbers.set(socket, this.#connections++));
  }

  /** Starts one; `await using` stops it. */
  static start(handler: OddHandler): Promise<OddServer> {
    return new OddServer(handler).listen();
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Base address with a version prefix. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(
    message: IncomingMessage,
    response: ServerResponse,
    numbers: WeakMap<object, number>,
  ): Promise<void> {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
    const request = {
      method: message.method ?? '',
      url: message.url ?? '',
      headers: message.headers,
      body: Buffer.concat(chunks).toString('utf8'),
      number: this.requests.length,
      connection: numbers.get(message.socket) ?? -1,
    };
    this.requests.push(request);
    this.handler(request, response);
  }
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}
