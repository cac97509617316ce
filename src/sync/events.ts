import type { ProblemCode } from '../base/catalogue.ts';
import type { FormsEvents } from '../forms/http.ts';
import type { RunReport } from './run-form.ts';
import type { WriteBackReport } from './write-back.ts';

/** The subject of a job: IDs only (L11). */
export interface JobSubject {
  readonly step: 'poll' | 'sync' | 'write-back';
  /** Null for a poll and a write-back, which concern all targets. */
  readonly target: string | null;
  /** Null for a poll. */
  readonly formId: string | null;
}

/** The events for logs, metrics and the demo, within this process. They contain no answers (L11). */
export interface SyncEvents extends FormsEvents {
  'run.ended': RunReport;
  'write-back.ended': WriteBackReport;
  /** A target that bills by bytes, such as BigQuery, has billed some. */
  'target.billed': { readonly target: string; readonly bytes: number };
  /** A job of the queue ended, or ended for now. */
  'job.ended': JobSubject & {
    /** Why it failed; null if it did not, or if it was stopped or met another run. */
    readonly code: ProblemCode | null;
    /** Whether this job runs again. If not, the next poll finds the remaining work. */
    readonly willRetry: boolean;
  };
  /** A worker died while it ran a job, here or on another machine; this process has put the job back. */
  'job.recovered': { readonly queue: string };
}
