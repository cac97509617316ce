import type { WriterOptions } from './target.ts';
import type { FormIdentity } from './types.ts';

/** What a SQL target tells of before: statuses, or every version of every row as well. */
export type HistoryKind = 'status' | 'full';

/** What a target that tells what submissions were before can do with that. */
export interface Histories {
  /**
   * Removes what the histories of a form tell of the time before `before` (ISO): what was true then, and since, stays. Not all
   * at once where there is much of it. Returns how many entries it removed. Undefined where a target keeps no history.
   */
  readonly pruneHistory?: (
    form: FormIdentity,
    before: string,
    options: WriterOptions,
  ) => Promise<number>;
}
