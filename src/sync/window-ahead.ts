import type { WindowWriter } from '../mirror/target.ts';
import type { WindowRecord } from '../mirror/window.ts';
import type { BegunWindow } from './window-proof.ts';

/** A window that nobody else writes to, begun to be read. */
export interface TakenWindow {
  readonly window: WindowRecord;
  /** Where windows are written side by side: the writer that holds it. Disposing of it gives the window back. */
  readonly writer?: WindowWriter;
  readonly begun: BegunWindow;
}

/**
 * The window after the one that is being proven: taken, and begun to be read, while the last pages of that one are on their
 * way, so that the source has something to answer all the time. Disposing of it gives back what was not called for.
 */
export class WindowAhead<Taken extends TakenWindow = TakenWindow> implements AsyncDisposable {
  #next: Promise<Taken | undefined> | undefined;

  /** Begins with it, unless one is begun already. What `take` rejects with is thrown by {@link next}. */
  begin(take: () => Promise<Taken | undefined>): void {
    this.#next ??= take();
    this.#next.catch(() => {});
  }

  /** The one that was begun; undefined where none was, or none was free. */
  async next(): Promise<Taken | undefined> {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = await this.next().catch(() => undefined);
    await left?.begun[Symbol.asyncDispose]();
    await left?.writer?.[Symbol.asyncDispose]();
  }
}
