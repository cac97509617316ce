import { boundsOf, type FormWindow } from '../../src/mirror/window.ts';
import type { RequestInfo } from '../../src/sandbox/forms-api/sandbox.ts';

/** Whether the first window that is read is answered for, though the gate is closed. */
interface Closing {
  readonly letsFirst?: boolean;
}

/**
 * Keeps back what a stand-in Forms API is asked of windows, until a test lets it go: so that workers are caught in the middle
 * of their windows, however fast or slow the machine is.
 */
export class WindowGate {
  #isClosed = false;
  #letsFirst = false;
  #free = new Set<string>();
  #held: { readonly window: string; readonly go: () => void }[] = [];

  /** For the stand-in: resolves when the request may be answered. */
  readonly onRequest = async ({ query }: RequestInfo): Promise<void> => {
    const [from, to] = [query.get('dateFrom'), query.get('dateTo')];
    if (!this.#isClosed || (from === null && to === null)) return;
    const window = `${from} ${to}`;
    // Who only counts asks for less than a page, perhaps of a window that nobody reads now.
    if (this.#letsFirst && query.get('limit') === '100') {
      this.#free.add(window);
      this.#letsFirst = false;
    }
    if (this.#free.has(window)) return;
    await new Promise<void>((go) => this.#held.push({ window, go }));
  };

  /** From now on no window is answered for. */
  close({ letsFirst = false }: Closing = {}): void {
    this.#isClosed = true;
    this.#letsFirst = letsFirst;
    this.#free = new Set();
  }

  /** Answers for this one, or for all. */
  open(window?: FormWindow): void {
    const { dateFrom = null, dateTo = null } = window === undefined ? {} : boundsOf(window);
    const isFree = (name: string): boolean =>
      window === undefined || name === `${dateFrom} ${dateTo}`;
    if (window === undefined) this.#isClosed = false;
    else this.#free.add(`${dateFrom} ${dateTo}`);
    for (const held of this.#held) if (isFree(held.window)) held.go();
    this.#held = this.#held.filter((held) => !isFree(held.window));
  }
}
