/** One request as the emulator remembers it: never a value of a row or of a parameter. */
export interface LoggedRequest {
  /** Milliseconds since the epoch, of the injected clock, when the request had been read. */
  readonly atMs: number;
  /** Such as `jobs.query`; `unknown` for an address that Google does not have. */
  readonly method: string;
  readonly path: string;
  /** 0 when no answer was sent on purpose. */
  readonly status: number;
  readonly requestBytes: number;
  readonly requestId: string | undefined;
}

/** All requests since the start or the last {@link clear}. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): void {
    this.#entries.push(entry);
  }

  /** A copy, in the order in which they were answered. */
  all(): LoggedRequest[] {
    return [...this.#entries];
  }

  /** How many requests went to each method. */
  counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { method } of this.#entries) counts[method] = (counts[method] ?? 0) + 1;
    return counts;
  }

  clear(): void {
    this.#entries = [];
  }
}
