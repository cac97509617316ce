import type { Json } from '../../mirror/types.ts';

/** Answers by field ID, in the order the API shows them. */
export type Answers = ReadonlyMap<string, Json>;

/** Answers computed when they are asked for: the same for the same number (from 0), each time. */
export type AnswerSeries = (number: number) => Answers;

interface Range {
  readonly start: number;
  readonly end: number;
  readonly series: AnswerSeries;
}

/** Who answered what. Series cost nothing per submission; answers given one by one are kept. */
export class AnswerSheet {
  readonly #ranges: Range[] = [];
  readonly #single = new Map<number, Answers>();

  /** Submissions `start` to `end` (not included) answer as the series says. Ranges are added in ascending order. */
  addSeries(start: number, end: number, series: AnswerSeries): void {
    this.#ranges.push({ start, end, series });
  }

  /** This submission answers so, whatever it answered before. */
  set(index: number, answers: Answers): void {
    this.#single.set(index, answers);
  }

  /** The answers of the submission with this index. */
  of(index: number): Answers {
    const single = this.#single.get(index);
    if (single) return single;
    const range = this.#ranges[this.#lastRangeFrom(index)];
    return range && index < range.end ? range.series(index - range.start) : new Map();
  }

  #lastRangeFrom(index: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.start ?? 0) <= index) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
