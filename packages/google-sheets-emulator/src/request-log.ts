/** One request as the emulator remembers it: never a value of a cell. */
export interface LoggedRequest {
  /** Milliseconds since the epoch, of the injected clock, when the request had been read. */
  readonly atMs: number;
  /** Such as `spreadsheets.batchUpdate`; `unknown` for an address that Google does not have. */
  readonly method: string;
  readonly kind: 'read' | 'write' | 'none';
  readonly spreadsheetId: string | undefined;
  readonly email: string | undefined;
  readonly status: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** A1 ranges that were asked for or written. */
  readonly ranges: readonly string[];
  /** The kinds of requests in a batch, in order. */
  readonly requestKinds: readonly string[];
  /** Whether it changed something. */
  readonly applied: boolean;
}

/** All requests since the start or the last {@link clear}. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): void {
    this.#entries.push(entry);
  }

  /** A copy, oldest first. */
  all(): LoggedRequest[] {
    return [...this.#entries];
  }

  /** Those of one spreadsheet. */
  of(spreadsheetId: string): LoggedRequest[] {
    return this.#entries.filter((entry) => entry.spreadsheetId === spreadsheetId);
  }

  clear(): void {
    this.#entries = [];
  }

  /** The numbers of reads and writes. */
  counts(spreadsheetId?: string): { reads: number; writes: number } {
    const entries = spreadsheetId === undefined ? this.#entries : this.of(spreadsheetId);
    const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length;
    return { reads: count('read'), writes: count('write') };
  }
}
