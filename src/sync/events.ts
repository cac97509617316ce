import type { MirrorError } from '../base/errors.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';

/** What a pass works on; part of every event. */
export interface PassSubject {
  readonly form: FormIdentity;
  /** The target's name. */
  readonly target: string;
  readonly kind: PassKind;
}

/** How a pass ended, for people, logs and `sync --json`. */
export interface PassReport extends PassSubject, PassRecord {
  /** Statuses that the marking after this pass set; 0 when marking is off. */
  readonly marked: number;
  readonly ms: number;
  /** The error behind `error`, when one was thrown. */
  readonly failure: MirrorError | null;
}

/** Where a running pass is. Counts are since it began. */
export interface PassProgress extends PassSubject {
  /** Distinct submissions seen, and the source's `total` as last reported. */
  readonly seen: number;
  readonly total: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
}

/** The seam for logs, metrics, progress bars and alerts. Never carries an answer (L11). */
export interface SyncEvents {
  'pass.started': PassSubject;
  'pass.progress': PassProgress;
  'pass.ended': PassReport;
  /** Columns of a target followed the form: labels only. */
  'columns.changed': PassSubject & {
    readonly added: readonly string[];
    readonly relabelled: readonly { readonly from: string; readonly to: string }[];
    readonly removed: readonly string[];
  };
  /** A request to the Forms API failed and will be tried again. */
  'forms.retry': {
    readonly request: string;
    readonly attempt: number;
    readonly delayMs: number;
    readonly reason: string;
  };
  'mark.ended': {
    readonly form: FormIdentity;
    readonly marked: number;
    readonly refused: number;
    readonly waiting: number;
  };
}
