import { randomUUID } from 'node:crypto';
import { totalOf } from '../mirror/status-counts.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { PassReport } from './events.ts';
import type { LookedForm } from './look-target.ts';

/** When a look began and ended (ISO). */
export interface LookTimes {
  readonly startedAt: string;
  readonly endedAt: string;
}

/** What a look found of a form. */
export interface LookEnd extends LookTimes {
  /** Status by status; otherwise by their number, and by the newest of them. */
  readonly isCounted: boolean;
}

/**
 * What a look that found nothing to do for a form says of it: as a pass would that found nothing new, at no request. Of one whose
 * deletions are withheld that is what the last pass said, which nothing has changed.
 */
export function settledReport(
  { id, slug, name }: FormIdentity,
  target: string,
  { accounted, overview }: LookedForm,
  { isCounted, ...times }: LookEnd,
): PassReport {
  const nothing = { requests: 0, distinct: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0 };
  const none = { rejected: 0, absent: 0, undecided: 0, doubles: 0, marked: 0, ms: 0 };
  const { checkpoint, lastPass } = overview;
  const withheld = checkpoint?.withheld ?? 0;
  const { outcome = 'ok', code = null, error = null } = (withheld > 0 && lastPass) || {};
  return {
    form: { id, slug, name },
    target,
    kind: 'incremental',
    passId: randomUUID(),
    outcome,
    total: totalOf(accounted),
    ...times,
    ...nothing,
    ...none,
    withheld,
    code,
    error,
    reason: null,
    notices: overview.notices,
    failure: null,
    byLook: true,
    // Nothing compares the statuses of a form with a copy that is known to differ.
    ...((!isCounted || withheld > 0) && { isUncounted: true }),
  };
}
