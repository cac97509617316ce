import type { FieldPicks } from '../mirror/picks.ts';
import type { Form, PassKind } from '../mirror/types.ts';
import type { ForeseenChange } from './foreseen.ts';
import type { FormWindow } from '../mirror/window.ts';

/** Which pass to run. */
export interface PassRequest {
  readonly formId: string;
  readonly kind: PassKind;
  readonly picks: FieldPicks;
  readonly hashKey: string | undefined;
  /** Throws while nothing of the form may be stored; asked with the form as the pass is going to store it. */
  readonly requireNames?: (form: Form, signal: AbortSignal) => Promise<void>;
  /** An incremental pass also compares the source's counts by status with what is held, and settles what differs. */
  readonly compareCounts?: boolean;
  /** Of a comparison: which windows of the form; those that it is not cut into any more are left out. */
  readonly windows?: readonly FormWindow[];
  /** Releases the brake of L8 for this pass: whatever is absent, or up to so many rows. */
  readonly acceptDeletes?: boolean | number;
  /** Sheets: recreate columns that people deleted. */
  readonly restoreColumns?: boolean;
  /** Reads and compares, writes nothing. */
  readonly dryRun?: boolean;
  /** Of such a run: is told what a real one would do to each row. */
  readonly onForeseen?: (change: ForeseenChange) => void;
  /** How long to wait for another pass on the same form and target. */
  readonly waitMs: number;
}
