import type { FormOverview } from '../mirror/target.ts';
import { comparedMsOf } from '../sync/comparisons.ts';

/**
 * By when a form is compared row by row again, at the latest (ISO): RECONCILE_EVERY after it was last. Null where it never
 * was, as its next pass reads everything. Pure.
 */
export function comparedBy(
  overview: FormOverview | null,
  withinMs: number,
  nowMs: number,
): string | null {
  const lastMs = overview === null ? null : comparedMsOf(overview, nowMs);
  return lastMs === null ? null : new Date(lastMs + withinMs).toISOString();
}
