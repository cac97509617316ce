import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SqlRow, SqlValue } from '../sql-session.ts';
import type { AnyEngine } from './sqlite-engine.ts';
import { THREAD_ENDED } from './sqlite-errors.ts';
import type { FlatRows, StorePlan } from './sqlite-store.ts';
import { errorFrom, type ThreadAnswer, type ThreadRequest } from './sqlite-thread-messages.ts';

/** Beside this file, in the sources as in a build. */
const THREAD = new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url);

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An engine in a thread of its own: while it works, this one reads on. It ends with the process, however that ends; what
 * was not committed is rolled back, as after any crash. A thread that ended by itself fails what was asked of it, and all
 * that is asked later.
 */
export class SqliteEngineThread implements AnyEngine {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  #ended: Error | undefined;

  /** Opens an existing file for writing; what can't be opened fails with the first statement. */
  constructor(path: string) {
    const compiled = getCompileCacheDir();
    // It has no use for the settings in the environment, nor for flags such as --watch; what this process keeps compiled lets it
    // begin in less than half the time.
    this.#worker = new Worker(THREAD, {
      name: 'sqlite',
      workerData: path,
      env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) },
      execArgv: [],
      // Batches come and go: left to V8, a long pass holds many times as much of them as garbage.
      resourceLimits: { maxYoungGenerationSizeMb: 24 },
    });
    this.#worker.unref();
    this.#worker.on('message', (answer: ThreadAnswer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end());
  }

  all(
    sql: string,
    params: readonly SqlValue[],
    asArrays: boolean,
  ): Promise<SqlRow[] | unknown[][]> {
    return this.#ask({ what: 'all', sql, params, asArrays });
  }

  send(sql: string, params: readonly SqlValue[]): void {
    const request: ThreadRequest = { what: 'send', sql, params };
    // Of a thread that has ended the next statement tells.
    if (this.#ended === undefined) this.#worker.postMessage(request, []);
  }

  exec(sql: string): Promise<void> {
    return this.#ask({ what: 'exec', sql });
  }

  store(plan: StorePlan, rows: FlatRows): Promise<Uint8Array> {
    return this.#ask({ what: 'store', plan, rows });
  }

  rollBack(): Promise<void> {
    return this.#ask({ what: 'rollBack' });
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    try {
      await this.#ask({ what: 'close' });
    } finally {
      await this.#worker.terminate();
    }
  }

  /** Ends it where nothing was stored through it. */
  async abandon(): Promise<void> {
    // An answer that still comes would say that nothing is waited for: the process ended before this did.
    this.#worker.removeAllListeners('message');
    await this.#worker.terminate();
  }

  /** The answer to it, whose type is that of the engine's method. */
  #ask<T>(request: ThreadRequest): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      // A process that has nothing else to wait for waits for the answer.
      this.#worker.ref();
      this.#asked.push({ resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage(request, []);
    });
  }

  #take(answer: ThreadAnswer): void {
    const asked = this.#asked.shift();
    if (this.#asked.length === 0) this.#worker.unref();
    if ('error' in answer) asked?.reject(errorFrom(answer.error));
    else asked?.resolve(answer.value);
  }

  #end(cause?: unknown): void {
    const code = THREAD_ENDED;
    this.#ended ??= Object.assign(new Error('the thread has ended', { cause }), { code });
    for (const { reject } of this.#asked.splice(0)) reject(this.#ended);
  }
}
