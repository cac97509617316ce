/** One statement that ran, whatever came of it. */
export interface LoggedStatement {
  /** Milliseconds since the epoch, of the injected clock. */
  readonly atMs: number;
  readonly jobId: string;
  /** Such as `SELECT` or `MERGE`. */
  readonly statementType: string;
  /** Its text; values that it takes as parameters are not in it. */
  readonly sql: string;
  /** Full names of the tables beneath it. */
  readonly tables: readonly string[];
  readonly bytesProcessed: number;
  readonly bytesBilled: number;
  readonly inTransaction: boolean;
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

  /** How many statements ran, and what they were billed for in sum. */
  totals(): { statements: number; bytesProcessed: number; bytesBilled: number } {
    return {
      statements: this.#entries.length,
      bytesProcessed: this.#entries.reduce((sum, entry) => sum + entry.bytesProcessed, 0),
      bytesBilled: this.#entries.reduce((sum, entry) => sum + entry.bytesBilled, 0),
    };
  }
}
