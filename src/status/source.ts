import type { ErrorCode } from '../base/errors.ts';
import type { FormOverview, ListedRejection, TargetKind } from '../mirror/target.ts';
import type { FormIdentity, PassKind, PassRecord } from '../mirror/types.ts';

/**
 * What the status page, metrics and alerts need to know of the rest of the program, which they do not see. The
 * composition root provides it. Nothing here carries an answer or a secret (L11, L15). Calls may be slow, hang or fail:
 * each is made with a time limit, and none holds up another (L12).
 */
export interface StatusSource {
  /** The names of the targets, as the settings order them. */
  readonly targets: readonly string[];

  /** What a target holds, as it remembers itself. Rejects with a MirrorError when it cannot be read. */
  overview(target: string): Promise<TargetOverview>;

  /** A form's newest passes into a target, newest first; empty when it was never mirrored there. */
  passes(target: string, formId: string, limit: number): Promise<readonly PassRecord[]>;

  /** Submissions listed as rejected, newest first, and how many there are in all. */
  rejections(target: string, formId: string, limit: number): Promise<RejectionList>;

  /** How the queue stands. */
  queue(): Promise<QueueState>;

  /** What this process last planned. */
  plan(): PlanState;

  /** When the schedule wants the next incremental pass after one that began at `afterMs`. Both since the epoch. */
  nextDueAt(afterMs: number): number;
}

/** See {@link StatusSource.overview}. */
export interface TargetOverview {
  readonly kind: TargetKind;
  /** Where it is; no password. */
  readonly address: string;
  readonly forms: readonly FormOverview[];
}

/** See {@link StatusSource.rejections}. */
export interface RejectionList {
  readonly total: number;
  readonly items: readonly ListedRejection[];
}

/** The queue: its store, its schedules, its jobs. */
export interface QueueState {
  /** `redis`, `postgres`, `embedded`. */
  readonly backend: string;
  /** Where it is; no password. */
  readonly address: string;
  /** False when the store did not answer; then the lists are empty. */
  readonly reachable: boolean;
  readonly schedules: readonly ScheduleState[];
  readonly queues: readonly QueueDepth[];
}

/** When passes of a kind run next. */
export interface ScheduleState {
  readonly kind: PassKind;
  /** ISO 8601 in UTC; null when the store has no such schedule. */
  readonly nextRunAt: string | null;
  /** The watchdog's verdict: ticks should have come long ago. */
  readonly overdue: boolean;
}

/** The jobs of one queue. */
export interface QueueDepth {
  readonly step: 'plan' | 'sync' | 'mark';
  /** Null for planning and marking, which serve all. */
  readonly target: string | null;
  readonly kind: PassKind | null;
  readonly paused: boolean;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly waitingForPasses: number;
}

/** Which forms go where, as far as this process knows: another worker may have planned since. */
export interface PlanState {
  /** When a plan last succeeded here (ISO); null: never. */
  readonly at: string | null;
  /** The forms of that plan with the names of their targets. */
  readonly forms: readonly { readonly form: FormIdentity; readonly targets: readonly string[] }[];
  /** Why the last try failed; null when it did not. */
  readonly problem: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly at: string;
  } | null;
  /** What is surely not meant, as sentences: a form in TARGET_FORMS that does not exist. */
  readonly notices: readonly string[];
}
