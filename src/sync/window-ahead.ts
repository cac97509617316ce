import type { WindowRecord } from '../mirror/window.ts';
import type { BegunWindow } from './window-proof.ts';

/** A window that has been begun to be read. */
export interface TakenWindow {
  readonly window: WindowRecord;
  readonly begun: BegunWindow;
}

/**
 * The window after the one that is being proven: begun to be read while the last pages of that one are on their way, so that the
 * source has something to answer all the time. Disposing of it gives up what was not called for.
 */
export class WindowAhead implements AsyncDisposable {
  #next: Promise<TakenWindow | undefined> | undefined;

  /** Begins with it, unless one is begun already. What `take` rejects with is thrown by {@link next}. */
  begin(take: () => Promise<TakenWindow | undefined>): void {
    this.#next ??= take();
    this.#next.catch(() => {});
  }

  /** The one that was begun; undefined where there was none. */
  async next(): Promise<TakenWindow | undefined> {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = await this.next().catch(() => undefined);
    await left?.begun[Symbol.asyncDispose]();
  }
}
