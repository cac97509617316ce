/** One request as the emulator remembers it: never a value of a cell. */
export interface LoggedRequest {
  /** Milliseconds since the epoch, of the injected clock, when the request had been read. */
  readonly atMs: number;
  /** Such as `spreadsheets.batchUpdate`; `unknown` for an address that Google does not have. */
  readonly method: string;
  readonly kind: 'read' | 'write' | 'none';
  readonly spreadsheetId: string | undefined;
  readonly email: string | undefined;
  /** 0 when the connection was dropped on purpose. */
  readonly status: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** A1 ranges that were asked for or written. */
  readonly ranges: readonly string[];
  /** The kinds of requests in a batch, in order. */
  readonly requestKinds: readonly string[];
  /** Whether it changed something, even if a fault hid the answer. */
  readonly applied: boolean;
}

/** The largest payload that Google recommends. */
const RECOMMENDED_PAYLOAD_BYTES = 2_000_000;

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

  /** The numbers of reads and writes, as quotas count them. */
  counts(spreadsheetId?: string): { reads: number; writes: number } {
    const entries = spreadsheetId === undefined ? this.#entries : this.of(spreadsheetId);
    const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length;
    return { reads: count('read'), writes: count('write') };
  }

  /** Milliseconds between neighbouring requests to one spreadsheet: Google advises 1,000 or more. */
  gapsMs(spreadsheetId: string): number[] {
    const times = this.of(spreadsheetId).map((entry) => entry.atMs);
    return times.slice(1).map((time, index) => time - (times[index] ?? time));
  }

  /** Requests whose body was larger than Google recommends. */
  oversized(): LoggedRequest[] {
    return this.#entries.filter((entry) => entry.requestBytes > RECOMMENDED_PAYLOAD_BYTES);
  }
}
