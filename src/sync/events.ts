import type { SentRequest } from '../forms/client.ts';
import type { RateNotice } from '../forms/pacing.ts';
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
export interface SyncEvents {
  'run.started': RunSubject;
  /** Submissions seen since the run began, and how many there are. */
  'run.progress': RunSubject & { readonly seen: number; readonly total: number };
  'run.ended': RunReport;
  'write-back.ended': WriteBackReport;
  /** A request to the Forms API was sent and has ended, well or not. */
  'forms.sent': SentRequest;
  /** A request that was tried again has ended, well or not. */
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
  /** News about the rate at which requests are sent. */
  'forms.rate': RateNotice;
}
