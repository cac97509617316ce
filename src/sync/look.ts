import type { CountsRecord } from '../mirror/types.ts';
import type { PassReport } from './events.ts';
import type { FormPlan } from './planner.ts';

/** A pass that a look found needed. */
export interface Visit {
  readonly target: string;
  /** The form's counts by status differ: the pass is to find out in which submissions. */
  readonly compareCounts: boolean;
  /** What the look has asked of the form's counts already. */
  readonly counts?: CountsRecord;
}

/** A form, with what a look found to do. */
export interface LookedPlan extends FormPlan {
  readonly visits: readonly Visit[];
  /** Rows wait to be marked, though no pass is needed. */
  readonly mark: boolean;
}

/** What a look found. */
export interface LookReport {
  readonly forms: readonly LookedPlan[];
  /** Forms that need no pass into a target, each as a pass that found nothing new. */
  readonly settled: readonly PassReport[];
  /** Of each target it is known what the workspace has besides its forms: the next look costs the least. */
  readonly knowsOthers: boolean;
  readonly requests: number;
  readonly ms: number;
}

/** How long a target may take to say what it holds; one that takes longer has its forms visited (L12). */
export const TARGET_WAIT_MS = 15_000;
