import type { FormsEvents } from '../forms/http.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { RunReport } from './run-form.ts';
import type { WriteBackReport } from './write-back.ts';

/** The form and target of a run. */
export interface RunSubject {
  readonly form: FormIdentity;
  /** The target's name. */
  readonly target: string;
  /** Every range is read. */
  readonly isFull: boolean;
}

/** The events for logs, metrics, progress and the demo, in this process only. They contain no answer (L11). */
export interface SyncEvents extends FormsEvents {
  'run.started': RunSubject;
  /** Submissions seen since the run began, and how many there are. */
  'run.progress': RunSubject & { readonly seen: number; readonly total: number };
  'run.ended': RunReport;
  'write-back.ended': WriteBackReport;
  /** A target that bills by bytes, such as BigQuery, billed some. */
  'target.billed': { readonly target: string; readonly bytes: number };
}
