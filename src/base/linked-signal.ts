/**
 * A signal that aborts with any of several others, and by itself. Dispose it when the work is over: it then lets go of
 * the others. `AbortSignal.any` never does while one of them lives, which costs a kilobyte for each request of a process
 * that runs for months.
 */
export class LinkedSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];

  constructor(...sources: (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined);
    for (const source of this.#sources) {
      if (source.aborted) this.abort(source.reason);
      else source.addEventListener('abort', this.#follow);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (event: Event): void => this.abort((event.target as AbortSignal).reason);
}
