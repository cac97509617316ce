import type { TimeSpan } from './time-counts.ts';

/** Of a writer that judges rows by what it remembers of them, rather than by what stands there. */
export interface RowDistrust {
  /**
   * Called before rows are compared one by one, those dated within these spans, or all: from then on the writer reads those that
   * people changed since they were written. Whether there are any. Missing where rows are read in any case.
   */
  distrustEdited?(spans: readonly TimeSpan[] | 'all'): Promise<boolean>;
}
