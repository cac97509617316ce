/** One statement that ran, whatever came of it. */
export interface LoggedStatement {
  /** Such as `SELECT` or `MERGE`. */
  readonly statementType: string;
  /** Its text; values that it takes as parameters are not in it. */
  readonly sql: string;
}

/** All statements since the start or the last {@link clear}. */
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
}
