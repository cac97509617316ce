import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import type { BaseUrl } from './base-url.ts';
import { Patience } from './patience.ts';
import { toWireFault, type WireFault } from './wire-fault.ts';

/** One HTTP request below the base address. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Path and query, encoded, below the base address. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Sends it on a connection of its own, which no server can have closed a moment ago. */
  readonly ownConnection?: boolean;
  /** False: a success needs no body, so that nothing about its body can turn it into a failure. */
  readonly readsBody: boolean;
}

/** An HTTP answer, read whole. */
export interface WireAnswer {
  readonly status: number;
  /** A header's first value, by lower-case name. */
  header(name: string): string | undefined;
  /** The body as UTF-8; of an error as much of it as came. */
  readonly text: string;
}

/** What {@link Wire} needs. */
export interface WireOptions {
  base: BaseUrl;
  /** Sent with every request; the key is among them. */
  headers: Readonly<Record<string, string>>;
  /** Most connections at a time. */
  connections: number;
  /** Longest wait for a connection, for the headers, and for each next piece of the body. */
  requestTimeoutMs: number;
}

/** Largest body we take, packed or not: a page of 100 submissions is far smaller, and a string must hold it. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;
/** Enough of an error's body for its field messages. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_CONNECT_TIMEOUT_MS = 10_000;
const JSON_BODY = { 'content-type': 'application/json' };

const unzip = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzip);

/** HTTP to one origin over kept-alive connections: sends, never repeats, never follows a redirect. */
export class Wire {
  readonly #options: WireOptions;
  readonly #pool: Pool;
  readonly #ownConnections: Pool;

  constructor(options: WireOptions) {
    const { base, connections, requestTimeoutMs } = options;
    this.#options = options;
    const shared: Pool.Options = {
      connections,
      // Patience keeps the time: undici's own timeouts are coarse, and blind to a body that trickles for ever.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: Math.min(MAX_CONNECT_TIMEOUT_MS, requestTimeoutMs) },
      maxResponseSize: MAX_BODY_BYTES,
      // One request a connection: a broken one costs one request, not all that share it.
      allowH2: false,
    };
    this.#pool = new Pool(base.origin, { ...shared, pipelining: 1 });
    this.#ownConnections = new Pool(base.origin, { ...shared, pipelining: 0 });
  }

  /** Sends once. Rejects with a {@link WireFault}, also when `signal` aborts. */
  async send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    using patience = new Patience(signal, this.#options.requestTimeoutMs);
    const response = await this.#dispatch(request, patience.signal);
    patience.renew();
    const succeeded = response.statusCode >= 200 && response.statusCode < 300;
    const answer = { status: response.statusCode, header: headerOf(response) };
    try {
      return { ...answer, text: await readBody(response, succeeded, patience) };
    } catch (error) {
      // An error counts by its status, and a success without use for its body is one, whatever became of the body.
      if (!succeeded || !request.readsBody) return { ...answer, text: '' };
      throw this.#fault(error, true);
    }
  }

  /** Breaks off what is in flight and closes every connection. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#ownConnections.destroy()]);
  }

  async #dispatch(request: WireRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const pool = request.ownConnection === true ? this.#ownConnections : this.#pool;
    try {
      return await pool.request({
        method: request.method,
        path: this.#options.base.path + request.path,
        headers: { ...this.#options.headers, ...(request.body === undefined ? {} : JSON_BODY) },
        signal,
        ...(request.body === undefined ? {} : { body: request.body }),
      });
    } catch (error) {
      throw this.#fault(error, false);
    }
  }

  #fault(error: unknown, inBody: boolean): WireFault {
    return toWireFault(error, {
      base: this.#options.base,
      timeoutMs: this.#options.requestTimeoutMs,
      inBody,
    });
  }
}

function headerOf(response: Dispatcher.ResponseData): WireAnswer['header'] {
  return (name) => {
    const value = response.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
}

/** The whole body, or of an error as much as a message can need. */
async function readBody(
  response: Dispatcher.ResponseData,
  whole: boolean,
  patience: Patience,
): Promise<string> {
  const isGzip = /^(x-)?gzip$/i.test(String(response.headers['content-encoding'] ?? '').trim());
  const packed: Uint8Array[] = [];
  // Not fatal: one broken byte in one answer must not hold up a page.
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    patience.renew();
    // Decoded as it comes: whole copies of pages would pile up outside of the heap, where nothing hurries to free them.
    if (isGzip) packed.push(chunk);
    else text += decoder.decode(chunk, { stream: true });
    bytes += chunk.length;
    if (!whole && bytes > MAX_ERROR_BYTES) break;
  }
  if (!isGzip) return text + decoder.decode();
  return decoder.decode(await unzip(Buffer.concat(packed), { maxOutputLength: MAX_BODY_BYTES }));
}
