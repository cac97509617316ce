/** Why a run has no proof that it saw everything (L3): each reason is a sentence for a person. */
export const REASONS = {
  MOVING: 'the form changes faster than it can be read',
  CONTRADICTION: 'the list shows another number of submissions than it says',
  UNPROVEN: 'the list changes each time it is read, and cannot be divided by date',
  HIDES: 'the list hides submissions that the source has when they are asked for by ID',
  FOREIGN: 'the list shows submissions of other forms: formId is ignored',
  REQUESTS: 'it would take more requests than the form is worth; the next run goes on',
} as const;
export type Reason = keyof typeof REASONS;

/** Ends a run: the submissions it saw are stored, and nothing is claimed. */
export class Incomplete extends Error {
  override readonly name = 'Incomplete';
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(REASONS[reason]);
    this.reason = reason;
  }
}
