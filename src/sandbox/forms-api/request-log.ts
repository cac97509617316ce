/** A request as the log keeps it: never an answer, so the words of a search are hidden. */
export interface LoggedRequest {
  /** Counts from 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  /** Without the base prefix. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The status shown; 0 when no answer was sent. */
  readonly status: number;
  /** Its arrival, by the store's clock. */
  readonly atMs: number;
  /** From its arrival until its answer was handed to the network, by the system's clock. */
  readonly tookMs: number;
}

/** The newest requests, in the order they were answered; bounded, so that a sandbox can run for days. */
export class RequestLog {
  readonly #entries: LoggedRequest[] = [];
  readonly #capacity: number;

  constructor(capacity = 100_000) {
    this.#capacity = capacity;
  }

  /** Adds a request that was answered. */
  add(request: LoggedRequest): void {
    this.#entries.push(request);
    // In bulk, because moving the whole array for each request would be slow.
    if (this.#entries.length > this.#capacity * 1.1) {
      this.#entries.splice(0, this.#entries.length - this.#capacity);
    }
  }

  /** The requests that were answered, in the order they were. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }
}

/** Query parameters for the log. */
export function loggedQuery(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    [...query].map(([name, value]) => [name, name === 'search' ? '[hidden]' : value]),
  );
}
