import { ApiError } from './api-error.ts';
import { fullName, shownName, type Table } from './catalog.ts';

const WINDOW_MS = 10_000;
const PER_WINDOW = 25;

/** Counts UPDATE, DELETE and MERGE statements of a table: 25 in ten seconds. Off until {@link enabled} is set. */
export class DmlQuota {
  enabled: boolean;
  readonly #times = new Map<string, number[]>();

  constructor(enabled: boolean) {
    this.enabled = enabled;
  }

  /** Counts a statement; throws Google's 403 for one too many, which is not counted. */
  take(table: Table, nowMs: number): void {
    if (!this.enabled) return;
    const recent = (this.#times.get(fullName(table)) ?? []).filter((at) => at > nowMs - WINDOW_MS);
    if (recent.length >= PER_WINDOW) {
      throw new ApiError(
        'rateLimitExceeded',
        `Exceeded rate limits: too many table dml insert operations for this table ${shownName(table)}. For more information, see https://cloud.google.com/bigquery/docs/troubleshoot-quotas`,
      );
    }
    recent.push(nowMs);
    this.#times.set(fullName(table), recent);
  }
}
