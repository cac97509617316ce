import { sumOf } from '../mirror/form-state.ts';
import { STATUSES } from '../mirror/types.ts';
import { type ListQuery, type Source } from '../forms/source.ts';

/** The number of submissions at the source in each documented status. */
export interface Counts {
  /** Our clock just before they were asked for (milliseconds). */
  readonly askedAtMs: number;
  /** Null if the source ignores `status`. */
  readonly statuses: Readonly<Record<string, number>> | null;
}

/** Asks for the six counts at the same time. Null statuses if the source refuses one. */
export async function askCounts(
  source: Source,
  query: Omit<ListQuery, 'status'>,
  nowMs: number,
): Promise<Counts> {
  const counts = await Promise.all(STATUSES.map((status) => source.count({ ...query, status })));
  const statuses = Object.fromEntries(STATUSES.map((status, at) => [status, counts[at] ?? 0]));
  return { askedAtMs: nowMs, statuses: counts.includes(null) ? null : statuses };
}

/** Whether the source ignores `status`: each count is then the total, so that they add up to far more than `total`. */
export function areIgnored(statuses: Counts['statuses'], total: number): boolean {
  if (statuses === null) return true;
  const counts = Object.values(statuses);
  return Math.min(...counts) > 0 && sumOf(counts) >= 2 * total;
}
