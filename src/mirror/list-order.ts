import { compareTimes } from './canonical-time.ts';
import type { PageOrder } from './proof.ts';

/** Steps that a whole list must show in one direction, and none in the other, to be called sorted. */
const SORTED_STEPS = 2;

/** Says whether a list that is read from its first page to its last is sorted by date, in either direction. */
export class OrderWatch {
  #last: string | null = null;
  #up = 0;
  #down = 0;

  /** The canonical times of the next page; broken ones are passed over. */
  add(createdAts: readonly (string | null)[]): void {
    for (const time of createdAts) {
      if (time === null) continue;
      const step = this.#last === null ? 0 : compareTimes(time, this.#last);
      if (step > 0) this.#up++;
      if (step < 0) this.#down++;
      this.#last = time;
    }
  }

  /** How many entries are dated after the one before, and how many before it. */
  get rises(): number {
    return this.#up;
  }

  get falls(): number {
    return this.#down;
  }

  get sorted(): boolean {
    return Math.min(this.#up, this.#down) === 0 && this.#up + this.#down >= SORTED_STEPS;
  }
}

/** Whether no two neighbours of these canonical times contradict an order; broken ones are passed over. */
export function follows(times: readonly (string | null)[], order: PageOrder): boolean {
  const watch = new OrderWatch();
  watch.add(times);
  return order === 'ascending' ? watch.falls === 0 : watch.rises === 0;
}
