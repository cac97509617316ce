import { compareTimes } from './canonical-time.ts';

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
