import type { ErrorCode } from '../base/errors.ts';
import type { PassKind } from '../mirror/types.ts';

/** A job, for logs, metrics and alerts: IDs only (L11). */
export interface JobSubject {
  /** `plan`, `sync` (one pass) or `mark`. */
  readonly step: 'plan' | 'sync' | 'mark';
  /** Null for marking, which belongs to neither kind. */
  readonly kind: PassKind | null;
  readonly formId: string | null;
  readonly target: string | null;
}

/** The seam for logs, metrics and alerts. Of this process only: other workers tell their own. */
export interface QueueEventMap {
  'job.started': JobSubject;
  /** `outcome`: a pass's own, `superseded` when a running full pass made an incremental one superfluous, `done` otherwise. */
  'job.completed': JobSubject & { readonly outcome: string; readonly ms: number };
  'job.failed': JobSubject & {
    readonly code: ErrorCode;
    readonly message: string;
    /** Whether this job is tried again; if not, only the next tick does. */
    readonly willRetry: boolean;
    readonly ms: number;
  };
  /** Waits for another pass over the same form to end. */
  'job.postponed': JobSubject & { readonly delayMs: number };
  /** A worker died with this job in hand, here or on another machine; it is run again. */
  'job.recovered': { readonly queue: string };
  /** Ticks should have come and did not. `healed`: the schedule was made anew. */
  'schedule.overdue': {
    readonly kind: PassKind;
    readonly dueAt: string;
    readonly healed: boolean;
  };
  /** Redis, PostgreSQL or the embedded store reports a fault; once in a while, however often it happens. */
  'queue.fault': { readonly fault: string };
}
