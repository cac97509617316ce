/**
 * The submissions of a form that are dated within [from, to): the unit in which a large form is read, proven and compared.
 * ISO instants at midnight UTC; null: open to that side.
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

/** Whether a form is read in windows. */
export const isCut = (windows: readonly WindowRecord[]): boolean => windows.length > 1;
