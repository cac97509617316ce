import type { MirrorError } from '../base/errors.ts';
import type { SentRequest } from '../forms/client.ts';
import type { RateNotice } from '../forms/pacing.ts';
import type { Loss } from '../mirror/losses.ts';
import type { TargetNotice } from '../mirror/port.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';

/** The form, target and kind of a pass; part of every event about it. */
export interface PassSubject {
  readonly form: FormIdentity;
  /** The target's name. */
  readonly target: string;
  readonly kind: PassKind;
  /** Unique to the pass, over all processes: every line that it logs carries it. */
  readonly passId: string;
}

/** How a pass ended, for people, logs and `sync --json`. */
export interface PassReport extends PassSubject, PassRecord {
  /** Live rows whose submissions the source no longer counts, and that the next full pass is to look for. */
  readonly absent: number;
  /** Absent rows that stay as they are and are listed: asked for by ID, the API said neither that they exist nor that they are gone. */
  readonly undecided: number;
  /** Entries of the source's list that repeat a submission, as far as the pass could tell. */
  readonly doubles: number;
  /**
   * Why it read everything though it was not asked to, what the target had lost, or since when what it took over from a pass
   * that was cut off had been proven: sentences; null otherwise.
   */
  readonly reason: string | null;
  /** Statuses that the marking after this pass set; 0 when marking is off. */
  readonly marked: number;
  /** What people changed in the target and the pass left alone; empty when it ended before it could look. */
  readonly notices: readonly TargetNotice[];
  readonly ms: number;
  /** The error behind `error`, when one was thrown. */
  readonly failure: MirrorError | null;
  /** True where the target held nothing of the form, not even a pass, when this one began. */
  readonly wasEmpty?: boolean;
  /** True where a look found the form as it was accounted for: no pass was run, and no target records one. */
  readonly byLook?: boolean;
  /** With that: by how many it has and by the newest of them alone, not status by status. */
  readonly isUncounted?: boolean;
}

/** How far a running pass has come. Counts are since it began. */
export interface PassProgress extends PassSubject {
  /** Distinct submissions seen, and the source's `total` as last reported. */
  readonly seen: number;
  readonly total: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/**
 * How marking a form ended. `partial`: some could not be marked, others were. `failed`: none could, or it stopped before
 * it had tried all.
 * `elsewhere`: another process is marking the form, and it was left to that one. `paused`: people have the form left alone in
 * a target that mirrors it, so that nothing can be durable everywhere.
 */
export type MarkOutcome = 'done' | 'partial' | 'failed' | 'elsewhere' | 'paused' | 'cancelled';

/** A submission that could not be marked in this run. */
export interface UnmarkedSubmission {
  readonly submissionId: string;
  /** As a sentence; never an answer. */
  readonly reason: string;
}

/** What marking did; counts of submissions. */
export interface MarkReport {
  readonly form: FormIdentity;
  readonly outcome: MarkOutcome;
  readonly marked: number;
  /** Their status had been changed by someone else: the mirror follows. */
  readonly adopted: number;
  /** The source refused the change of their status. */
  readonly refused: number;
  /** They could be neither read nor marked for another reason. */
  readonly failed: number;
  /** Not yet in every target of the form, or listed as rejected. */
  readonly waiting: number;
  /** Not tried, because the same change was refused within the last day and nothing has changed since. */
  readonly remembered: number;
  /** Some of those that could not be marked, with why. */
  readonly unmarked: readonly UnmarkedSubmission[];
  /** With `dryRun`: what would be marked. Otherwise empty. */
  readonly wouldMark: readonly { readonly id: string; readonly status: string }[];
  /** Why not everything was marked that could be; null when it was. */
  readonly failure: MirrorError | null;
}

/** What logs, metrics, progress bars and alerts subscribe to. Never carries an answer (L11). */
export interface SyncEvents {
  'pass.started': PassSubject;
  /** A pass is going to read everything, and why; `losses`: what the target had lost. */
  'pass.widened': PassSubject & { readonly reason: string; readonly losses: readonly Loss[] };
  'pass.progress': PassProgress;
  'pass.ended': PassReport;
  /** Columns of a target followed the form: labels only. */
  'columns.changed': PassSubject & {
    readonly added: readonly string[];
    readonly relabelled: readonly { readonly from: string; readonly to: string }[];
    readonly removed: readonly string[];
  };
  /** A request to the Forms API was sent and has ended, whichever way. */
  'forms.sent': SentRequest;
  /** A request that was tried again has ended, whichever way. */
  'forms.settled': { readonly request: string };
  /** A request to the Forms API has had no answer for so long; it goes on waiting. */
  'forms.silent': { readonly request: string; readonly silentMs: number };
  /** A request to the Forms API failed and will be tried again. */
  'forms.retry': {
    readonly request: string;
    readonly attempt: number;
    readonly delayMs: number;
    readonly reason: string;
  };
  /** What is worth telling of the rate at which requests are sent. */
  'forms.rate': RateNotice;
  'mark.ended': MarkReport;
}
