/** How many submissions have each status; a status that none has is absent. Never a plain object: `__proto__` is a legal status. */
export type StatusCounts = ReadonlyMap<string, number>;

/** No submission at all. */
export const NO_COUNTS: StatusCounts = new Map();

/** How many of these have each status. */
export function tallied(rows: Iterable<{ readonly status: string }>): StatusCounts {
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

/** Both together. */
export function plusCounts(a: StatusCounts, b: StatusCounts): StatusCounts {
  return combined(a, b, (one, other) => one + other);
}

/** All of them together. */
export function sumOf(counts: Iterable<StatusCounts>): StatusCounts {
  let sum = NO_COUNTS;
  for (const each of counts) sum = plusCounts(sum, each);
  return sum;
}

/** What `a` has beyond `b`: negative where `b` has more, and absent where they have the same. */
export function minusCounts(a: StatusCounts, b: StatusCounts): StatusCounts {
  return combined(a, b, (one, other) => one - other);
}

/** True when each status has the same number in both. */
export const sameCounts = (a: StatusCounts, b: StatusCounts): boolean =>
  minusCounts(a, b).size === 0;

/** All statuses together. */
export function totalOf(counts: StatusCounts): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

/** As JSON for the stores: pairs in the order of their statuses, so that equal counts have equal texts. */
export const countsText = (counts: StatusCounts): string =>
  JSON.stringify([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));

/** The reverse; null for a text that is none, or says nothing: the counts are not known then. */
export function countsFrom(text: string | null): StatusCounts | null {
  if (text === null) return null;
  try {
    const pairs: unknown = JSON.parse(text);
    return Array.isArray(pairs) && pairs.every(isPair) ? new Map(pairs) : null;
  } catch {
    return null;
  }
}

const isPair = (pair: unknown): pair is [string, number] =>
  Array.isArray(pair) && typeof pair[0] === 'string' && Number.isInteger(pair[1]);

function combined(
  a: StatusCounts,
  b: StatusCounts,
  combine: (one: number, other: number) => number,
): StatusCounts {
  const counts = new Map<string, number>();
  for (const status of new Set([...a.keys(), ...b.keys()])) {
    const count = combine(a.get(status) ?? 0, b.get(status) ?? 0);
    if (count !== 0) counts.set(status, count);
  }
  return counts;
}

/** How many submissions a form has by status, as a job carries it: numbers only. Times are milliseconds. */
export interface CountsRecord {
  readonly askedAtMs: number;
  readonly beganMs: number | null;
  readonly endedMs: number | null;
  readonly statuses: Readonly<Record<string, number>> | null;
}
