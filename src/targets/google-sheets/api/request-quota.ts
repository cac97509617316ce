import type { Clock } from '../../../base/clock.ts';

/** How many requests Google accepts. Limits of size (cells, characters) are in `size-limits.ts`. */
export interface QuotaLimits {
  /** Between the starts of two requests to one spreadsheet ("limit … to 1 request per second"). */
  readonly perSpreadsheetMs: number;
  /** Reads and writes a minute, each, of one account in one Cloud project. */
  readonly perMinute: number;
}

/** Google's limits (Sheets API, "Usage limits" and "Troubleshoot API errors"). */
export const GOOGLE_QUOTA: QuotaLimits = { perSpreadsheetMs: 1_000, perMinute: 60 };

const MINUTE_MS = 60_000;

/**
 * Keeps the requests of one account within Google's quota, in the order in which they come. One for each account in a
 * process; several processes are kept apart by the leases of the commit log.
 */
export class RequestQuota {
  readonly #clock: Clock;
  readonly #limits: QuotaLimits;
  readonly #nextBySpreadsheet = new Map<string, number>();
  readonly #starts: Record<'read' | 'write', number[]> = { read: [], write: [] };

  constructor(clock: Clock, limits: QuotaLimits = GOOGLE_QUOTA) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Waits for a place, and takes it. Rejects with CANCELLED when the signal aborts the wait; the place is lost then. */
  async take(kind: 'read' | 'write', spreadsheetId: string, signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const start = Math.max(
      now,
      this.#nextBySpreadsheet.get(spreadsheetId) ?? 0,
      this.#earliest(kind),
    );
    this.#nextBySpreadsheet.set(spreadsheetId, start + this.#limits.perSpreadsheetMs);
    const starts = this.#starts[kind];
    starts.push(start);
    if (starts.length > this.#limits.perMinute) starts.shift();
    if (start > now) await this.#clock.sleep(Math.ceil(start - now), signal);
  }

  /** When the oldest of the last `perMinute` places is a minute old. Google counts by its own minutes; any minute is safe. */
  #earliest(kind: 'read' | 'write'): number {
    const starts = this.#starts[kind];
    const oldest = starts.length < this.#limits.perMinute ? undefined : starts[0];
    return oldest === undefined ? 0 : oldest + MINUTE_MS;
  }
}
