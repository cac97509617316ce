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
export const JOIN: RowCost = { bytes: 5_900, calls: 113, statements: 0 };

/** Full passes over 3,000 submissions of 20 answers, by kind of target: the first one, and one that finds nothing new. */
export const PASSES: Readonly<Record<string, Readonly<Record<'first' | 'unchanged', RowCost>>>> = {
  sqlite: {
    first: { bytes: 16_100, calls: 314, statements: 1.1 },
    unchanged: { bytes: 14_900, calls: 307, statements: 0.029 },
  },
  postgres: {
    // A third of the statements make tables, views and their comments, whatever the number of rows.
    // Some 300 bytes and 7 calls are for the row's entry in the history of statuses.
    first: { bytes: 16_900, calls: 395, statements: 0.0635 },
    // Two of the 104 statements of such a pass ask whether a person has paused it.
    unchanged: { bytes: 16_400, calls: 365, statements: 0.0347 },
  },
};
