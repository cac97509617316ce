import type { StatusCounts } from './status-counts.ts';
import type { StoredField } from './target.ts';

/** What a target that is metered knows of a form without reading its rows. What it does not know is absent. */
export interface UnreadForm {
  /** The mirrored fields, dropped ones included. */
  readonly fields?: readonly Omit<StoredField, 'column'>[];
  /** Rows not marked deleted, by status, as the form's reader counts them. */
  readonly statuses?: StatusCounts;
  /**
   * This process has asked for losses and notices, nothing was lost, and nothing has changed since in the form's rows or in what is kept
   * of it: asking again would tell the same.
   */
  readonly isAsStored?: true;
}
