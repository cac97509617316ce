import type { ProblemCode } from '../base/catalogue.ts';
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

/** Events for logs, metrics and alerts, of this process only: other workers emit their own. */
export interface QueueEventMap {
  'job.started': JobSubject;
  /** `outcome`: that of the pass; `superseded` when a running full pass made an incremental one superfluous; else `done`. */
  'job.completed': JobSubject & { readonly outcome: string; readonly ms: number };
  'job.failed': JobSubject & {
    readonly code: ProblemCode;
    readonly message: string;
    /** Whether this job is tried again; if not, the next scheduled run does its work. */
    readonly willRetry: boolean;
    readonly ms: number;
  };
  /** Waits for another pass over the same form to end. */
  'job.postponed': JobSubject & { readonly delayMs: number };
  /** A worker died while it ran a job, here or on another machine; the job is run again. */
  'job.recovered': { readonly queue: string };
  /** Scheduled runs did not happen. `repaired`: the schedule was created again. */
  'schedule.overdue': {
    readonly kind: PassKind;
    readonly dueAt: string;
    readonly repaired: boolean;
  };
  /** Redis, PostgreSQL or the embedded store reports an error: the same one at most once every half minute. */
  'queue.error': { readonly error: string };
}
