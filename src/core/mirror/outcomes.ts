/** What one outcome of a run means. */
interface Meaning {
  /** The copy agreed with the source, so that a poll may speak for the form. */
  readonly isSettled: boolean;
  /** The run did what it was asked to: `sync` exits 0. */
  readonly isSuccess: boolean;
  /** The target keeps a record of the run. */
  readonly isRecorded: boolean;
}

/** How a run can end. */
export const OUTCOMES = {
  /** Source and copy agree. */
  ok: { isSettled: true, isSuccess: true, isRecorded: true },
  /** They agree, but for deletions that wait for a person (L8). */
  held: { isSettled: true, isSuccess: false, isRecorded: true },
  /** What was seen is stored, and nothing is proven (L3). */
  incomplete: { isSettled: false, isSuccess: false, isRecorded: true },
  /** The source has no such form any more. Its rows stay. */
  gone: { isSettled: false, isSuccess: false, isRecorded: true },
  failed: { isSettled: false, isSuccess: false, isRecorded: true },
  /** A person paused the form or the target: nothing was written. */
  paused: { isSettled: false, isSuccess: false, isRecorded: false },
  /** Another process has the form. */
  busy: { isSettled: false, isSuccess: false, isRecorded: false },
  /** The program was told to stop; the next run goes on. */
  stopped: { isSettled: false, isSuccess: false, isRecorded: true },
} as const satisfies Record<string, Meaning>;

export type OutcomeName = keyof typeof OUTCOMES;
