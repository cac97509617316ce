import type { ColumnKey } from '../api/metadata.ts';

/** What kinds of answers a field's column has met. `none`: there was no answer yet. */
export type FieldContent = 'none' | 'numbers' | 'mixed';

/** One of the submission's own columns. */
export interface OwnColumn {
  readonly key: ColumnKey;
  readonly header: string;
}

/** The submission's own columns, in the order of a new tab: as people read, what only the mirror needs last. */
export const OWN_COLUMNS: readonly OwnColumn[] = [
  { key: 's:at', header: 'Submitted at' },
  { key: 's:status', header: 'Status' },
  { key: 's:removed', header: 'Removed' },
  { key: 's:id', header: 'Submission ID' },
];
