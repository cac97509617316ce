import type { CountsByStatus } from '../forms/submission-counts.ts';
import { type StatusCounts, totalOf } from '../mirror/status-counts.ts';
import { STATUSES } from '../mirror/types.ts';

/**
 * Stands for every status that the API does not document, as it can't be asked for them. A submission with just this one
 * is among those.
 */
export const OTHER = 'other';

const DOCUMENTED: ReadonlySet<string> = new Set(STATUSES);

/** Counts as a look compares them: the documented statuses, and all others as {@link OTHER}. */
export function askable(counts: StatusCounts): StatusCounts {
  const folded = new Map<string, number>();
  for (const [status, count] of counts) {
    const key = DOCUMENTED.has(status) ? status : OTHER;
    folded.set(key, (folded.get(key) ?? 0) + count);
  }
  return withoutZeros(folded);
}

/** The same of what the source was asked for; fewer than none of {@link OTHER} where statuses add up to more than there are. */
export const askedCounts = ({ statuses, total }: CountsByStatus): StatusCounts =>
  withoutZeros(new Map([...statuses, [OTHER, total - totalOf(statuses)]]));

const withoutZeros = (counts: ReadonlyMap<string, number>): StatusCounts =>
  new Map([...counts].filter(([, count]) => count !== 0));
