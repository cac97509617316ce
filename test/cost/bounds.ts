/** What a row costs at most: of each figure 2 % more than was measured when it was set; it moves by a fifth of a percent. */
export interface RowCost {
  /** Bytes allocated in the heap of JavaScript. */
  readonly bytes: number;
  /** Calls of functions of the program. */
  readonly calls: number;
  /** Statements of SQL. */
  readonly statements: number;
}

/** Reading pages through the typed client and joining them; no target. */
export const JOIN: RowCost = { bytes: 5_540, calls: 108, statements: 0 };

/** Full passes over 3,000 submissions of 20 answers, by kind of target: the first one, and one that finds nothing new. */
export const PASSES: Readonly<Record<string, Readonly<Record<'first' | 'unchanged', RowCost>>>> = {
  sqlite: {
    first: { bytes: 13_660, calls: 285, statements: 1.07 },
    unchanged: { bytes: 12_450, calls: 275, statements: 0.029 },
  },
  postgres: {
    // A third of the statements make tables, views and their comments, whatever the number of rows.
    // Some 300 bytes and 7 calls are for the row's entry in the history of statuses.
    first: { bytes: 15_320, calls: 362, statements: 0.0645 },
    // Two of the 104 statements of such a pass ask whether a person has paused it.
    unchanged: { bytes: 14_850, calls: 336, statements: 0.0353 },
  },
};
