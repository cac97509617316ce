import type { FormIdentity } from '../../mirror/types.ts';

/** What a column of answers holds: numbers, texts, or arrays and objects as JSON. */
export type AnswerType = 'number' | 'text' | 'json';

/** The type of a field's column; null: nothing but blanks yet, so that the first answer decides. Decided once (L9). */
export type ColumnType = AnswerType | null;

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
   * The column, or the key in the overflow column, for what `column` can't hold as it is: the texts among numbers, for one.
   * Null until there is some.
   */
  readonly textColumn: string | null;
  readonly textStorage: FieldStorage;
  /** Names in the labelled view; null when the view has no room for it. */
  readonly viewLabel: string | null;
  readonly textViewLabel: string | null;
  readonly removedAt: string | null;
}

/** `column`: one of its own; `more`: in the overflow column, because the table has as many columns as it can hold. */
export type FieldStorage = 'column' | 'more';

/** Name of the overflow column: JSON by column name. */
export const MORE_COLUMN = '_more';

/** A column, or a key of the overflow column, that holds answers to a field. */
export interface AnswerPart {
  readonly field: FieldColumn;
  /** `own`: the field's column; `text`: that of texts beside it. */
  readonly kind: 'own' | 'text';
  /** The column, or the key. */
  readonly name: string;
  readonly storage: FieldStorage;
  /** What it holds. An undecided column is one of texts; the overflow column holds anything under any key. */
  readonly type: AnswerType;
}

/** The table of the versions that rows had; see row-history.ts. */
export interface FormHistory {
  readonly table: string;
  /** Versions are written. Otherwise it was turned off. */
  readonly isOpen: boolean;
}

/** A form's table and what is in it. */
export interface FormTable {
  readonly form: FormIdentity;
  readonly table: string;
  readonly view: string;
  /** By `ordinal`. */
  readonly fields: readonly FieldColumn[];
  /** Null: never was asked for. */
  readonly history?: FormHistory | null;
}

/** A column of the labelled view. */
export interface ViewColumn {
  /** Name in the view. */
  readonly label: string;
  /** Name it has in the view now; null when it is not in the view yet. */
  readonly oldLabel: string | null;
  /** What it shows. */
  readonly part: AnswerPart;
}
