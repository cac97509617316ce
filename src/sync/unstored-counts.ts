import { minusCounts, type StatusCounts } from '../mirror/status-counts.ts';
import type { StoredRow } from '../mirror/target.ts';

/**
 * By status, what a pass met at the source and the target has no row of: rejected, forgotten, or a further entry of a
 * submission that the list shows twice. The source counts it all the same. Rows that it does not count are taken off, so a
 * number may be negative: those of which it says neither that they are there nor that they are gone, and those of deleted
 * submissions that the target could not mark.
 */
export class UnstoredCounts {
  readonly #met = new Map<string, number>();
  readonly #newcomers = new Map<string, number>();
  #entries = new Map<string, number>();
  #sweep = 0;
  readonly #unanswered = new Map<string, string>();

  /** What was met for the first time in this pass, and has no row. */
  meet(status: string, isNewcomer: boolean): void {
    add(this.#met, status);
    if (isNewcomer) add(this.#newcomers, status);
  }

  /** An entry of the list; `sweep`: that of the ledger. */
  list(status: string, sweep: number): void {
    if (sweep === 0) return;
    if (sweep !== this.#sweep) this.#entries = new Map();
    this.#sweep = sweep;
    add(this.#entries, status);
  }

  /** A live row of which the source says nothing, or that cannot be marked deleted. */
  leaveOut(id: string, status: string): void {
    this.#unanswered.set(id, status);
  }

  /**
   * Rows whose submissions are gone: those that are live all the same, which the target could not mark and lists, the source
   * does not count. Returns how many.
   */
  leaveOutUnmarked(rows: ReadonlyMap<string, StoredRow>): number {
    const unmarked = [...rows.values()].filter(({ deletedAt }) => deletedAt === null);
    for (const { id, status } of unmarked) this.leaveOut(id, status);
    return unmarked.length;
  }

  /** Of everything that was met: after a pass that has met all there is. */
  get all(): StatusCounts {
    const unanswered = new Map<string, number>();
    for (const status of this.#unanswered.values()) add(unanswered, status);
    return minusCounts(this.#met, unanswered);
  }

  /** Of what no earlier pass had met. */
  get newcomers(): StatusCounts {
    return this.#newcomers;
  }

  /** What the list, as the last sweep showed it, has beyond what is held: where the source counts entries. */
  beyond(held: StatusCounts): StatusCounts {
    return minusCounts(this.#entries, held);
  }
}

const add = (counts: Map<string, number>, status: string): void =>
  void counts.set(status, (counts.get(status) ?? 0) + 1);
