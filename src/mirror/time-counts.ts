/** The time from `from` on and before `to`: canonical times of whole milliseconds; null: without an end on that side. */
export interface TimeSpan {
  readonly from: string | null;
  readonly to: string | null;
}

/** What dates are counted by, in UTC. */
export type TimeGrain = 'day' | 'hour' | 'minute' | 'second';

/** How many rows are dated within one day, hour, minute or second and have a status. */
export interface TimeCount {
  /** When it began (canonical time). */
  readonly start: string;
  readonly status: string;
  readonly rows: number;
}
