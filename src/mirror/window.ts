import { compareTimes } from './canonical-time.ts';
import {
  countsFrom,
  countsText,
  NO_COUNTS,
  plusCounts,
  type StatusCounts,
  tallied,
} from './status-counts.ts';

/**
 * The submissions of a form that are dated within [from, to): the unit in which a large form is read, proven and compared.
 * ISO instants at midnight UTC; null: open to that side. `SPEC.md`, "Windows", says what proofs of windows prove.
 */
export interface FormWindow {
  readonly from: string | null;
  readonly to: string | null;
}

/** The window that every submission is in, dated or not. */
export const WHOLE_FORM: FormWindow = { from: null, to: null };

/** The bounds that a list is asked with; one that is open is left out. */
export interface QueryBounds {
  readonly dateFrom?: string;
  readonly dateTo?: string;
}

/**
 * What to ask the source with for the submissions of a window. The upper bound is a millisecond before the window ends: so it
 * is the same window whether bounds mean instants or whole days, and inclusive or not where nothing is dated on it. Whether
 * the source reads them so has to show: totals that add up, and every item within its window.
 */
export function boundsOf({ from, to }: FormWindow): QueryBounds {
  return {
    ...(from !== null && { dateFrom: from }),
    ...(to !== null && { dateTo: new Date(Date.parse(to) - 1).toISOString() }),
  };
}

/** Whether a submission of this date (canonical time) belongs to the window. Without a date it does not contradict any. */
export function isWithin({ from, to }: FormWindow, createdAt: string | null): boolean {
  if (createdAt === null) return true;
  if (from !== null && compareTimes(createdAt, from) < 0) return false;
  return to === null || compareTimes(createdAt, to) < 0;
}

/** What a target keeps of one window of a form. */
export interface WindowRecord extends FormWindow {
  /** How many submissions its last proof accounted for; before the first, how many the source counted. */
  readonly total: number;
  /** When the reading that last proved it, row by row, began (ISO); null: never. */
  readonly provenAt: string | null;
  /**
   * What its rows were stored as, and what was lost, in that proof: it counts for no pass of which this is not true. Of an
   * open window, as they are to be.
   */
  readonly provenFor: string | null;
  /** Rows that proof found absent and marked deleted; those it left as they are because too many were. */
  readonly deleted: number;
  readonly absent: number;
  /**
   * By status, what that proof met and the target has no row of, as `countsText` writes it; null: not known.
   */
  readonly unstored: string | null;
  /** A full pass is under way that has not proven it. */
  readonly open: boolean;
  /**
   * Since when the form is known not to work in windows (ISO): then {@link WHOLE_FORM} is its only record. Null: it does.
   */
  readonly failedAt: string | null;
}

/** A window that was not read yet. */
export const unreadWindow = ({ from, to }: FormWindow, total: number): WindowRecord => ({
  from,
  to,
  total,
  provenAt: null,
  provenFor: null,
  deleted: 0,
  absent: 0,
  unstored: null,
  open: true,
  failedAt: null,
});

/** The window as it is after something was lost: what was proven of it is no longer so. One that can't be read stays so. */
export const reopened = (window: WindowRecord): WindowRecord =>
  window.failedAt === null ? unreadWindow(window, window.total) : window;

/** Whether both have the same bounds. */
export const sameWindow = (one: FormWindow, other: FormWindow): boolean =>
  one.from === other.from && one.to === other.to;

/** Whether a form is read in windows. */
export const isCut = (windows: readonly WindowRecord[]): boolean => windows.length > 1;

/** The record of a form that does not work in windows. */
export const uncutForm = (total: number, failedAt: string): WindowRecord => ({
  ...unreadWindow(WHOLE_FORM, total),
  open: false,
  failedAt,
});

/** By status, what all windows have no row of; null where it is not known of each. */
export function unstoredIn(windows: readonly WindowRecord[]): StatusCounts | null {
  let all = NO_COUNTS;
  for (const { unstored } of windows) {
    const counts = countsFrom(unstored);
    if (counts === null) return null;
    all = plusCounts(all, counts);
  }
  return all;
}

/** A row that was there; its date as canonical time. */
export interface DatedStatus {
  readonly status: string;
  readonly createdAt: string | null;
}

/** The window after these rows were forgotten: those of its span are counted by the source all the same. */
export function withForgotten(window: WindowRecord, rows: readonly DatedStatus[]): WindowRecord {
  const before = countsFrom(window.unstored);
  if (before === null) return window;
  const own = rows.filter(({ createdAt }) => createdAt !== null && isWithin(window, createdAt));
  const unstored = countsText(plusCounts(before, tallied(own)));
  return { ...window, unstored };
}

/** Since when every window has been proven (ISO); null where one never was. */
export function oldestProof(windows: readonly WindowRecord[]): string | null {
  let oldest: string | null = null;
  for (const { provenAt } of windows) {
    if (provenAt === null) return null;
    if (oldest === null || provenAt < oldest) oldest = provenAt;
  }
  return oldest;
}
