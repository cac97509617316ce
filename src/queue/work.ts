import type { PassKind, PassOutcome } from '../mirror/types.ts';

/** A form and the targets that mirror it now, by name. */
export interface PlannedForm {
  readonly formId: string;
  readonly targets: readonly string[];
}

/** Names one pass: everything that a job carries. */
export interface PassOrder {
  readonly formId: string;
  readonly target: string;
  readonly kind: PassKind;
}

/**
 * The work itself, handed to the queue, which knows when and how often but not what. Every step may run twice, at the
 * same time even, and must stop soon after its signal aborts (after the batch in hand).
 */
export interface MirrorWork {
  /** Which forms go into which targets now. Throws MirrorError. */
  plan(signal: AbortSignal): Promise<readonly PlannedForm[]>;

  /**
   * One pass. Throws a MirrorError for what the queue should try again (`retryable`) or give up until the next tick.
   * An outcome says that there is nothing to decide: `busy` is tried again soon, a full pass that is `incomplete` a
   * little later, `cancelled` when the next worker is free; `failed` waits for the next tick.
   * An incremental pass of a form without a checkpoint reads all of it: the first full pass comes only after its interval.
   */
  pass(order: PassOrder, signal: AbortSignal): Promise<PassOutcome>;

  /** Marks what may be marked of a form, asking its targets. Throws like {@link pass}. */
  mark(order: { readonly formId: string }, signal: AbortSignal): Promise<void>;
}

/** When passes run by themselves, and where into. */
export interface Schedules {
  readonly incremental:
    | { readonly everyMs: number }
    | { readonly cron: string; readonly timeZone: string };
  readonly full: { readonly everyMs: number };
  /** Whether a form's passes are followed by marking. */
  readonly marking: boolean;
  /** The names of all targets. The queues of others are removed. */
  readonly targets: readonly string[];
}
