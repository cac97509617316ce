import type { OutcomeName } from '../mirror/form-state.ts';
import type { PollReport } from '../sync/poll.ts';
import type { SyncOrder } from './jobs.ts';

/** What a poll found to do. */
export type PollFound = Pick<PollReport, 'syncs' | 'writeBacks'>;

/**
 * The work of the jobs. The queue knows when and how often to do it, not its content. Every handler may run twice,
 * even at the same time, and must stop soon after its signal aborts (after the current batch). Runs and write-backs
 * log how they end.
 */
export interface JobHandlers {
  /** Checks the workspace for changes. Throws MirrorError. */
  readonly poll: (signal: AbortSignal) => Promise<PollFound>;

  /**
   * One run, if the settings have the form mirrored there. Throws a MirrorError where it failed, was stopped or met another run: a
   * retryable one is tried again.
   */
  readonly sync: (
    order: SyncOrder,
    signal: AbortSignal,
    onProgress: (seen: number, total: number) => void,
  ) => Promise<OutcomeName>;

  /** Does the write-back of a form, if the settings ask for it. Throws MirrorError. */
  readonly writeBack: (formId: string, signal: AbortSignal) => Promise<void>;
}
