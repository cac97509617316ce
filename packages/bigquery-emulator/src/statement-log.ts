/** One statement that ran, with any result. */
export interface LoggedStatement {
  readonly jobId: string;
  /** Such as `SELECT` or `MERGE`. */
  readonly statementType: string;
  /** Its text, without the values of parameters. */
  readonly sql: string;
  readonly bytesBilled: number;
}

/** All statements since the start or the last {@link clear}. A failed statement was billed nothing. */
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

  /** The number of statements and jobs, and the total of billed bytes. */
  totals(): { jobs: number; statements: number; bytesBilled: number } {
    return {
      jobs: new Set(this.#entries.map(({ jobId }) => jobId)).size,
      statements: this.#entries.length,
      bytesBilled: this.#entries.reduce((sum, entry) => sum + entry.bytesBilled, 0),
    };
  }
}
