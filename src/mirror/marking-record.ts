import { type ErrorCode } from '../base/errors.ts';

/** How marking a form last ended, where it did not mark all that it could. */
export interface MarkingRecord {
  /** Since when it has ended so (ISO). */
  readonly since: string;
  /** Why it failed, in full or in part; null where only single submissions were refused. */
  readonly code: ErrorCode | null;
  readonly error: string | null;
  /** Submissions left alone for now, because the source refused the change of their status. */
  readonly refused: number;
}

/** True when the one says the same as the other, whatever submission it names. */
export const saysTheSame = (one: MarkingRecord | null, other: MarkingRecord | null): boolean =>
  one?.code === other?.code && one?.refused === other?.refused;
