import { accounted, sumOf, type Tally } from '../mirror/form-state.ts';
import { STATUSES } from '../mirror/types.ts';
import { type ListQuery, type Source } from '../forms/source.ts';

/** The number of submissions at the source in each documented status. */
export type Counts = Readonly<Record<string, number>>;

/** Asks for the count of each documented status, all at the same time. Null if the source refuses one. */
export async function askCounts(
  source: Source,
  query: Omit<ListQuery, 'status'>,
): Promise<Counts | null> {
  const counts = await Promise.all(STATUSES.map((status) => source.count({ ...query, status })));
  if (counts.includes(null)) return null;
  return Object.fromEntries(STATUSES.map((status, at) => [status, counts[at] ?? 0]));
}

/** Whether {@link askCounts} asks for the statuses of all these submissions. Two others could be exchanged without a change of a count. */
export const areAllAsked = (tally: Tally): boolean =>
  [...accounted(tally)].every(([status, n]) => n === 0 || STATUSES.some((each) => each === status));

/** Whether the source ignores `status`: each count is then the total, so that they add up to far more than `total`. */
export function areIgnored(byStatus: Counts | null, total: number): boolean {
  if (byStatus === null) return true;
  const counts = Object.values(byStatus);
  return Math.min(...counts) > 0 && sumOf(counts) >= 2 * total;
}
