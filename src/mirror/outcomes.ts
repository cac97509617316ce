/** What one outcome of a run means. */
interface Meaning {
  /** Source and copy agree: `sync` exits 0, and a poll may speak for the form. */
  readonly isSuccess: boolean;
  /** The target keeps a record of the run. */
  readonly isRecorded: boolean;
}

/** How a run can end. */
export const OUTCOMES = {
  /** Source and copy agree. */
  ok: { isSuccess: true, isRecorded: true },
  /** They agree, except for deletions that wait for a person (L8). */
  held: { isSuccess: false, isRecorded: true },
  /** What was seen is stored, and nothing is proven (L3). */
  incomplete: { isSuccess: false, isRecorded: true },
  /** The source has no such form any more. Its rows stay. */
  gone: { isSuccess: false, isRecorded: true },
  failed: { isSuccess: false, isRecorded: true },
  /** A person paused the form or the target: nothing was written. */
  paused: { isSuccess: false, isRecorded: false },
  /** Another process has the form. */
  busy: { isSuccess: false, isRecorded: false },
  /** The program is stopping; the next run goes on. */
  stopped: { isSuccess: false, isRecorded: true },
} as const satisfies Record<string, Meaning>;

export type OutcomeName = keyof typeof OUTCOMES;
