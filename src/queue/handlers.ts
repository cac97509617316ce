import type { CountsRecord, PassKind, PassOutcome } from '../mirror/types.ts';
import type { FormWindow } from '../mirror/target.ts';

/** A form and the targets that mirror it now, by name. */
export interface PlannedForm {
  readonly formId: string;
  readonly targets: readonly string[];
  /** What there is to do for it; absent where nobody looked: a pass into each of its targets. */
  readonly found?: FoundWork | undefined;
}

/** What a look found to do for a form. */
export interface FoundWork {
  readonly passes: readonly {
    readonly target: string;
    readonly compareCounts: boolean;
    /** The form's counts, where the look has asked for them. */
    readonly counts?: CountsRecord | undefined;
    /** Of a comparison: which windows of the form. */
    readonly windows?: readonly FormWindow[] | undefined;
    /** Of a full pass: so many absent rows a person has accepted as deleted. */
    readonly acceptDeletes?: number | undefined;
  }[];
  /** Rows wait to be marked, whether or not a pass is needed. */
  readonly mark: boolean;
}

/** Which pass to run: everything that a job carries. */
export interface PassJob {
  readonly formId: string;
  readonly target: string;
  readonly kind: PassKind;
  /** An incremental pass is to compare the source's counts by status with the copy's, too. */
  readonly compareCounts?: boolean;
  /** The form's counts, where the look has asked for them. */
  readonly counts?: CountsRecord;
  /** Of a comparison: which windows of the form. */
  readonly windows?: readonly FormWindow[];
  /** Of a full pass: so many absent rows a person has accepted as deleted. */
  readonly acceptDeletes?: number;
}

/** A form that is to be compared in a target: whole, or some of its windows. */
export interface DueComparison {
  readonly formId: string;
  readonly target: string;
  readonly windows?: readonly FormWindow[] | undefined;
}

/** One that waits or runs, since when (milliseconds). */
export interface ComparisonUnderWay extends DueComparison {
  readonly sinceMs: number;
}

/** What a job is about; `target` is null for marking. */
export interface JobPlace {
  readonly formId: string;
  readonly target: string | null;
}

/** A form in a target. */
export interface FormPlace {
  readonly formId: string;
  readonly target: string;
}

/** How far a pass has come: numbers only. */
export interface JobProgress {
  readonly seen: number;
  readonly total: number;
}

const logged = new WeakSet<Error>();

/** Notes that an error is in the log already, so that the queue does not repeat it. Returns it. */
export function asLogged<E extends Error>(error: E): E {
  logged.add(error);
  return error;
}

/** Whether {@link asLogged} noted it. */
export const wasLogged = (error: Error): boolean => logged.has(error);

/**
 * What the jobs do. The queue knows when and how often, not what. Every handler may run twice, even at the same time, and
 * must stop soon after its signal aborts (after the current batch).
 */
export interface JobHandlers {
  /** Which forms go into which targets now, and, of incremental passes, which are needed. Throws MirrorError. */
  plan(signal: AbortSignal, kind: PassKind): Promise<readonly PlannedForm[]>;

  /**
   * Which forms and windows of which targets are to be compared row by row now; `underWay` are those that wait or run
   * already. Rejects with CANCELLED alone.
   */
  comparisons(
    underWay: readonly ComparisonUnderWay[],
    signal: AbortSignal,
  ): Promise<readonly DueComparison[]>;

  /**
   * Whether the settings of this process have the form mirrored: into `target`, or, for null, into any. Throws like
   * {@link plan} where that cannot be known.
   */
  isPlanned(job: JobPlace, signal: AbortSignal): Promise<boolean>;

  /**
   * One pass. Throws a MirrorError for what the queue should try again (`retryable`) or leave to the next scheduled run.
   * Of the outcomes, `busy` is tried again soon, a full pass that is `incomplete` a little later, `cancelled` when the
   * next worker is free; an incremental pass that `failed` waits for the next scheduled run, a full one is tried again.
   * An incremental pass of a form without a checkpoint reads all of it: the first full pass comes only after its interval.
   */
  pass(
    job: PassJob,
    signal: AbortSignal,
    onProgress?: (progress: JobProgress) => void,
  ): Promise<PassOutcome>;

  /** Marks what may be marked of a form, asking its targets. Throws like {@link pass}. */
  mark(job: { readonly formId: string }, signal: AbortSignal): Promise<void>;
}
