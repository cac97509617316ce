import { isSameUnder, type StoredUnder } from './stored-under.ts';
import { type FormState, oldestReading } from './form-state.ts';

/** What a copy of a form is claimed to hold, and as of when (milliseconds; null: nothing is claimed). */
export interface Claim {
  /** Every submission of the source as of then, except those in `except`. */
  readonly submissionsAsOfMs: number | null;
  readonly statusesAsOfMs: number | null;
  readonly answersAsOfMs: number | null;
  /** Rows that the source does not show and that are not marked deleted: the claim does not speak for them. */
  readonly except: number;
}

/**
 * The claim is computed, never stored. A form that was never agreed on claims nothing; nor does one whose rows were stored under
 * other settings than now (`under`; null: they are not known).
 */
export function claimOf(state: FormState, under: StoredUnder | null): Claim {
  const { tally, storedUnder } = state;
  const isAsNow = under === null || isSameUnder(storedUnder, under);
  const isClaimed = isAsNow && state.submissionsAsOfMs !== null;
  return {
    submissionsAsOfMs: isClaimed ? state.submissionsAsOfMs : null,
    statusesAsOfMs: isClaimed ? state.statusesAsOfMs : null,
    answersAsOfMs: isClaimed ? oldestReading(state) : null,
    except: tally.held + tally.undecided,
  };
}
