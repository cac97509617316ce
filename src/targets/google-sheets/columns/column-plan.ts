import { type ColumnKey } from '../api/metadata.ts';

/** A column to be made. */
export interface NewColumn {
  readonly key: ColumnKey;
  readonly header: string;
  /** The column of ours that it comes right behind; undefined: before all others. */
  readonly after: ColumnKey | undefined;
}
