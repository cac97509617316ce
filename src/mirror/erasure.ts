/** What a target holds of submissions, or has removed of them (L18). Counts. */
export interface Traces {
  readonly rows: number;
  /** Listed rejections, and remembered status changes, refused or sent. */
  readonly listings: number;
  readonly refusals: number;
  /** What histories tell of them: statuses that they had, and versions. */
  readonly history: number;
}

/** What an erasure removed, and what it left because it is people's own. */
export interface Erasure extends Traces {
  /**
   * Cells that people wrote into the rows, as people call them: `row 17, column F (Notes)`; and rows of which nobody tells
   * any more whether they are to be erased. Empty outside of sheets.
   */
  readonly left: readonly string[];
}

/** An erasure that found nothing to remove. */
export const NOTHING_ERASED: Erasure = {
  rows: 0,
  listings: 0,
  refusals: 0,
  history: 0,
  left: [],
};
