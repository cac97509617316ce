import { type CountsRecord, STATUSES } from '../mirror/types.ts';
import type { ListQuery, Source } from './source.ts';

const SECOND_MS = 1_000;

/** How many submissions the source has of each documented status. */
export interface Counts {
  /** Our clock just before they were asked for (milliseconds). */
  readonly askedAtMs: number;
  /**
   * By the source's clock, which shows whole seconds: they include every submission created before. Null where the source gives no
   * time.
   */
  readonly beganMs: number | null;
  /** They include no submission created from then on. Null where the source gives no time. */
  readonly endedMs: number | null;
  /** Null where the source does not look at `status`. */
  readonly statuses: ReadonlyMap<string, number> | null;
}

export const recordOf = ({ statuses, ...times }: Counts): CountsRecord => ({
  ...times,
  statuses: statuses && Object.fromEntries(statuses),
});

export const countsFrom = ({ statuses, ...times }: CountsRecord): Counts => ({
  ...times,
  statuses: statuses && new Map(Object.entries(statuses)),
});

/** Asks for the six counts, side by side. Null statuses where the source refuses one. */
export async function askCounts(
  source: Source,
  query: Omit<ListQuery, 'status'>,
  nowMs: number,
): Promise<Counts> {
  const answers = await Promise.all(
    STATUSES.map(async (status) => [status, await source.count({ ...query, status })] as const),
  );
  const statuses = new Map<string, number>();
  const times: number[] = [];
  for (const [status, answer] of answers) {
    if (answer === null) return uncounted(nowMs);
    statuses.set(status, answer.total);
    if (answer.serverMs !== null) times.push(answer.serverMs);
  }
  const isKnown = times.length === STATUSES.length;
  const beganMs = isKnown ? Math.min(...times) : null;
  const endedMs = isKnown ? Math.max(...times) + SECOND_MS : null;
  return { askedAtMs: nowMs, beganMs, endedMs, statuses };
}

/** For a source that does not look at `status`. */
export const uncounted = (nowMs: number): Counts => ({
  askedAtMs: nowMs,
  beganMs: null,
  endedMs: null,
  statuses: null,
});

/** Whether `status` was not looked at: each count is of all there are, so that they add up to far more than `total`. */
export function areIgnored({ statuses }: Counts, total: number): boolean {
  if (statuses === null) return true;
  const counts = [...statuses.values()];
  const sum = counts.reduce((all, count) => all + count, 0);
  return Math.min(...counts) > 0 && sum >= 2 * total;
}

export const sameCounts = (a: Counts, b: Counts): boolean =>
  a.statuses !== null &&
  b.statuses !== null &&
  [...a.statuses].every(([status, count]) => b.statuses?.get(status) === count);
