import { type ColumnKey } from '../api/metadata.ts';

/** See {@link CatalogueField.content}. `none`: there was no answer yet. */
export type FieldContent = 'none' | 'numbers' | 'mixed';

/** One of the submission's own columns. */
export interface OwnColumn {
  readonly key: ColumnKey;
  readonly header: string;
  /** On which side of the answers a new tab has it. */
  readonly side: 'left' | 'right';
}

/** The submission's own columns, in the order of a new tab: as people read, what only the mirror needs last. */
export const OWN_COLUMNS: readonly OwnColumn[] = [
  { key: 's:at', header: 'Submitted at', side: 'left' },
  { key: 's:status', header: 'Status', side: 'left' },
  { key: 's:removed', header: 'Removed', side: 'right' },
  { key: 's:id', header: 'Submission ID', side: 'right' },
];
