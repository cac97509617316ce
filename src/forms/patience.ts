/** A request that was given up. `SILENT`: nothing came for too long; `TOO_SLOW`: something came, but for far too long. */
class OutOfPatience extends Error {
  override readonly name = 'OutOfPatience';
  readonly code: 'SILENT' | 'TOO_SLOW';

  constructor(code: 'SILENT' | 'TOO_SLOW') {
    super(code);
    this.code = code;
  }
}

/** A body that trickles never falls silent; after this many times the timeout it is given up. */
const MAX_TIMEOUTS = 10;

/**
 * One request's abort signal: aborts with the caller's, after `timeoutMs` of silence, and after ten times that in all.
 * Dispose it when the request is over. (AbortSignal.any would hold memory for as long as the caller's signal lives.)
 */
export class Patience implements Disposable {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #silence: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;

  constructor(outer: AbortSignal, timeoutMs: number) {
    this.#outer = outer;
    this.#silence = setTimeout(() => this.#giveUp('SILENT'), timeoutMs);
    this.#total = setTimeout(() => this.#giveUp('TOO_SLOW'), timeoutMs * MAX_TIMEOUTS);
    outer.addEventListener('abort', this.#follow);
    if (outer.aborted) this.#follow();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something came: the silence begins anew. */
  renew(): void {
    this.#silence.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    this.#outer.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => this.#controller.abort();

  #giveUp(code: 'SILENT' | 'TOO_SLOW'): void {
    this.#controller.abort(new OutOfPatience(code));
  }
}
