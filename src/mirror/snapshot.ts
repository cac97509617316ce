import type { Cell } from './types.ts';

/** A column of a {@link FormSnapshot}: its name in the target, and the label that people know it by. Both are unique. */
export interface SnapshotColumn {
  readonly name: string;
  readonly label: string;
}

/** Which rows of a {@link FormSnapshot} to read. */
export interface SnapshotRows {
  /** Those that are marked deleted, too, after the others. */
  readonly withDeleted: boolean;
}

/** One form as a target holds it at one instant, whatever is written meanwhile. Dispose to let go of it. */
export interface FormSnapshot extends AsyncDisposable {
  /** `id`, `status`, `created_at`, one for each field, and what else the target keeps of a row. */
  readonly columns: readonly SnapshotColumn[];
  /** False where it takes several reads of something that others may change meanwhile: each row is whole all the same. */
  readonly isOneInstant: boolean;
  /** Every row, in pieces, with a cell for each of the columns; bounded memory (L14). */
  rows(which: SnapshotRows): AsyncIterable<readonly (readonly Cell[])[]>;
}
