import type { FormIdentity } from '../../mirror/types.ts';

/** What a field's column holds: numbers only, any text, or (null) nothing yet, so that the first value decides. */
export type ColumnType = 'number' | 'text' | null;

/** A field as the catalogue (`mirror_fields`) holds it. */
export interface FieldColumn {
  readonly id: string;
  readonly label: string;
  /** Place in the form, as last read from the source. */
  readonly position: number;
  /** Order in which columns were made, from 0. */
  readonly ordinal: number;
  /** Name of its column, or its key in the overflow column. Never changes (L9). */
  readonly column: string;
  readonly storage: FieldStorage;
  readonly type: ColumnType;
  /**
   * Set when a number column met text while a view of a user depended on it: that column keeps the numbers under this
   * new name, and `column` is a text column that holds everything.
   */
  readonly numberColumn: string | null;
  /** Names in the labelled view; null when the view has no room for it. */
  readonly viewLabel: string | null;
  readonly numberViewLabel: string | null;
  readonly removedAt: string | null;
}

/** `column`: one of its own; `more`: in the overflow column, because the table has as many columns as it can hold. */
export type FieldStorage = 'column' | 'more';

/** Name of the overflow column: JSON by column name. */
export const MORE_COLUMN = '_more';

/** A form's table and what is in it. */
export interface FormTable {
  readonly form: FormIdentity;
  readonly table: string;
  readonly view: string;
  /** By `ordinal`. */
  readonly fields: readonly FieldColumn[];
}

/** A column of the labelled view. */
export interface ViewColumn {
  /** Name in the view. */
  readonly label: string;
  /** Name it has in the view now; null when it is not in the view yet. */
  readonly oldLabel: string | null;
  readonly field: FieldColumn;
  /** True for the numbers kept beside a text column. */
  readonly isNumberTwin: boolean;
}
