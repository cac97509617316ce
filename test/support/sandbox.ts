import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ApiRequest } from '../../src/sandbox/api.ts';
import type { Reply } from '../../src/sandbox/reply.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { FormsStore } from '../../src/sandbox/store.ts';
import { answer, FaultInjector, type FaultRule } from './faults.ts';

/** A request in the log: never an answer. */
export interface LoggedRequest {
  /** Counts from 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  /** Without the base prefix. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The status shown; 0 if no response was sent. */
  readonly status: number;
}

/** Options of {@link startSandbox}. */
export interface SandboxOptions {
  /** The workspace to serve. Default: an empty one. */
  readonly store?: FormsStore;
  readonly faults?: readonly FaultRule[];
  /** On 127.0.0.1. Default 0: any free one. */
  readonly port?: number;
  /** Default: a key that the store's seed determines. */
  readonly apiKey?: string;
  /**
   * Called for each request, after its body has arrived and before anything is read or changed: the place to change the
   * store between any two requests. A promise delays this request until it resolves. If it throws or rejects, the
   * request gets a 500 and stop() rejects with the error.
   */
  readonly onRequest?: (request: ApiRequest & { readonly number: number }) => void | Promise<void>;
}

/** Starts the sandbox, which fails as its faults describe and records its requests. */
export async function startSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const sandbox = new TestSandbox(options);
  await sandbox.listen(options.port ?? 0);
  return sandbox;
}

/** The settings of an account on a sandbox that mirrors everything into a SQLite file in this folder. */
export const accountOn = ({ url, apiKey }: TestSandbox, folder: string) => ({
  FORMS_API_URL: url,
  FORMS_API_KEY: apiKey,
  TARGET_URL: `sqlite:${join(folder, 'copy.sqlite')}`,
  TARGET_FIELDS: '*',
  DATA_DIR: folder,
  // Tests run concurrently, and `check` tests the port.
  PORT: '0',
});

/** The sandbox with faults, hooks and a log. */
export class TestSandbox extends Sandbox {
  readonly faults: FaultInjector;
  /** All requests, in the order in which they were answered. */
  readonly requests: LoggedRequest[] = [];
  readonly #options: SandboxOptions;
  readonly #stopping = new AbortController();
  #requestCount = 0;
  #firstError: { error: unknown } | undefined;

  constructor(options: SandboxOptions) {
    super(options.store ?? new FormsStore());
    this.#options = options;
    this.apiKey = options.apiKey ?? this.apiKey;
    this.faults = new FaultInjector(options.faults);
  }

  /** Breaks all connections and stops listening. Rejects with the first error of a hook, or of the sandbox itself. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await super[Symbol.asyncDispose]();
    if (this.#firstError) throw this.#firstError.error;
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  protected override async answer(
    request: ApiRequest,
    response: ServerResponse,
    serve: () => Reply,
  ): Promise<void> {
    const number = ++this.#requestCount;
    try {
      await this.#options.onRequest?.({ ...request, number });
      const fault = this.faults.take(request);
      const status = await answer(response, fault, serve, this.#stopping.signal);
      const { method, path, query } = request;
      this.requests.push({ number, method, path, query: Object.fromEntries(query), status });
    } catch (error) {
      this.#firstError ??= { error };
      throw error;
    }
  }
}
