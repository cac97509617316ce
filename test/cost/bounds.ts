/** What a row costs at most: of each figure some 7 % more than was measured when it was set. */
export interface RowCost {
  /** Bytes allocated in the heap of JavaScript. */
  readonly bytes: number;
  /** Calls of functions of the program. */
  readonly calls: number;
  /** Statements of SQL. */
  readonly statements: number;
}

/** Reading pages through the typed client and joining them; no target. */
export const JOIN: RowCost = { bytes: 7_300, calls: 718, statements: 0 };

/** Full passes over 3,000 submissions of 20 answers, by kind of target: the first one, and one that finds nothing new. */
export const PASSES: Readonly<Record<string, Readonly<Record<'first' | 'unchanged', RowCost>>>> = {
  sqlite: {
    first: { bytes: 19_300, calls: 880, statements: 1.1 },
    unchanged: { bytes: 19_300, calls: 875, statements: 0.028 },
  },
  postgres: {
    first: { bytes: 20_500, calls: 990, statements: 0.047 },
    unchanged: { bytes: 23_100, calls: 985, statements: 0.037 },
  },
};
