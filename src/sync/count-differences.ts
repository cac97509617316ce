import type { CountsByStatus } from '../forms/submission-counts.ts';
import { plusCounts, type StatusCounts, totalOf } from '../mirror/status-counts.ts';
import { STATUSES } from '../mirror/types.ts';

/** By how many more the source has of a status than is accounted for; null: of all that are not documented. */
export interface Difference {
  readonly status: string | null;
  readonly by: number;
}

/** Where the source's counts differ from what is held and what has no row. Those that gained come first: what is found there was lost elsewhere. */
export function countDifferences(
  { statuses, other, verdict }: CountsByStatus,
  held: StatusCounts,
  unstored: StatusCounts,
): Difference[] {
  const accounted = plusCounts(held, unstored);
  const differences: Difference[] = STATUSES.map((status) => ({
    status,
    by: (statuses.get(status) ?? 0) - (accounted.get(status) ?? 0),
  }));
  // Counts that add up to more than there are say nothing of the rest.
  if (verdict === 'fits') differences.push({ status: null, by: other - undocumented(accounted) });
  return differences.filter(({ by }) => by !== 0).toSorted((a, b) => b.by - a.by);
}

/**
 * What has no row, by the statuses that the source can be asked for. What shows no status is counted with one of these, or
 * with those that are not documented: which of the two, the number of those tells. With which of these, a list that shows it
 * tells; with `attributed`, how many were known before, the counts, where they differ by nothing else.
 */
export function askableUnstored(
  source: CountsByStatus,
  held: StatusCounts,
  unstored: StatusCounts,
  attributed: number | null,
): StatusCounts {
  const { other } = source;
  const rows = undocumented(held);
  const blank = held.get('') ?? 0;
  if (other !== rows && other !== rows - blank) return unstored;
  const documented = new Map([...unstored].filter(([status]) => isDocumented(status)));
  if (other === rows) return documented;
  const elsewhere = new Map([...documented, ['', -blank]]);
  if (attributed === null) return elsewhere;
  const gained = countDifferences(source, held, elsewhere);
  const isAll = gained.reduce((all, { by }) => all + by, 0) === blank - attributed;
  if (!isAll || gained.some(({ status, by }) => status === null || by < 0)) return elsewhere;
  return plusCounts(elsewhere, new Map(gained.map(({ status, by }) => [status ?? '', by])));
}

/** Whether the source can be asked for it. */
export const isDocumented = (status: string | null): boolean =>
  STATUSES.some((one) => one === status);

const undocumented = (counts: StatusCounts): number =>
  totalOf(new Map([...counts].filter(([status]) => !isDocumented(status))));
