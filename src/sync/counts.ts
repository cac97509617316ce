import { sumOf } from '../mirror/form-state.ts';
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

/** Whether the source ignores `status`: each count is then the total, so that they add up to far more than `total`. */
export function areIgnored(byStatus: Counts | null, total: number): boolean {
  if (byStatus === null) return true;
  const counts = Object.values(byStatus);
  return Math.min(...counts) > 0 && sumOf(counts) >= 2 * total;
}
