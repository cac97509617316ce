/** One statement that ran, whatever came of it. */
export interface LoggedStatement {
  readonly jobId: string;
  /** Such as `SELECT` or `MERGE`. */
  readonly statementType: string;
  /** Its text; values that it takes as parameters are not in it. */
  readonly sql: string;
  readonly bytesBilled: number;
}

/** All statements since the start or the last {@link clear}. One that failed was billed nothing. */
export class StatementLog {
  #entries: LoggedStatement[] = [];

  add(entry: LoggedStatement): void {
    this.#entries.push(entry);
  }

  /** A copy, oldest first. */
  all(): LoggedStatement[] {
    return [...this.#entries];
  }

  clear(): void {
    this.#entries = [];
  }

  /** How many statements ran, in how many jobs, and what they were billed for in sum. */
  totals(): { jobs: number; statements: number; bytesBilled: number } {
    return {
      jobs: new Set(this.#entries.map(({ jobId }) => jobId)).size,
      statements: this.#entries.length,
      bytesBilled: this.#entries.reduce((sum, entry) => sum + entry.bytesBilled, 0),
    };
  }
}
