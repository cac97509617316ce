import type { FormsEvents } from '../forms/http.ts';
import type { RunReport } from './run-form.ts';
import type { WriteBackReport } from './write-back.ts';

/** The events for logs, metrics and the demo, in this process only. They contain no answer (L11). */
export interface SyncEvents extends FormsEvents {
  'run.ended': RunReport;
  'write-back.ended': WriteBackReport;
  /** A target that bills by bytes, such as BigQuery, billed some. */
  'target.billed': { readonly target: string; readonly bytes: number };
}
