import type { Cell, Row } from './types.ts';

/** Rows as a target would hold them. */
export interface RowsAsStored {
  /** In the order of the rows that were asked about; undefined of one that can't be stored. */
  readonly rows: readonly (Row | undefined)[];
  /** Whether a field that holds `stored` would be left alone by `coming`, an answer of one of these rows. */
  readonly isSame: (fieldId: string, stored: Cell, coming: Cell) => boolean;
}
