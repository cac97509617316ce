/**
 * What a notice is about. `ID_COLUMN_DELETED`: no pass can succeed; `VIEW_LEFT`: a view of ours shows a former table;
 * `CELLS_PROTECTED`, `CELLS_MERGED`, `CELLS_IN_HEAD`: what belongs into some cells
 * is not written; `VIEW_BEHIND`: one lacks forms or fields, as it could not be made anew;
 * `ANSWERS_BESIDE`: some answers are of another type than their column and stand in one beside it;
 * `UNPICKED_ANSWERS`: columns of fields that are no longer picked hold answers; `PLAIN_ANSWERS`: plain ones of fields that are
 * to be hashed, in a form that no pass writes again; `SCRUB_PENDING`: what was erased may still be in files of the target; the others concern single rows or columns.
 */
export type NoticeCode =
  | 'ID_COLUMN_DELETED'
  | 'ROWS_COPIED'
  | 'ROWS_WITHOUT_ID'
  | 'CELLS_PROTECTED'
  | 'CELLS_MERGED'
  | 'CELLS_IN_HEAD'
  | 'VIEW_LEFT'
  | 'VIEW_BEHIND'
  | 'ANSWERS_BESIDE'
  | 'UNPICKED_ANSWERS'
  | 'PLAIN_ANSWERS'
  | 'SCRUB_PENDING';

/**
 * Something that a person changed in a target, or in what it may hold, and that the mirror leaves as it is. Data for every surface; holds no answer.
 */
export interface TargetNotice {
  readonly code: NoticeCode;
  /** True when every pass fails until it is remedied. */
  readonly blocks: boolean;
  /** The tab, by its title when it was last read; in a database the view. */
  readonly tab: string;
  /** The columns concerned, by their labels. */
  readonly columns: readonly string[];
  /** The rows concerned, as people number them, from 1; the first of them. */
  readonly rows: readonly number[];
  /** What was found, as sentences that name tab, rows and columns. */
  readonly message: string;
  /** What to do, as sentences. */
  readonly remedy: string;
}
