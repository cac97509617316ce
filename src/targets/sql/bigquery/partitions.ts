/*
 * Tables of forms are partitioned by the month of `created_at`. Whatever a statement touches stands in it as literals, as BigQuery
 * bills what it can't rule out: a condition on a parameter, or on a column of what is joined, rules nothing out.
 */

/** A month in UTC, as `2026-03`; {@link NO_MONTH} for rows without a date. */
export type Month = string;

/** The partition of rows without a date. */
export const NO_MONTH: Month = '';

/** More spans than this are not named: the query would be longer than what it saves is worth. */
const MOST_SPANS = 400;

/** The month of a canonical time. */
export const monthOf = (createdAt: string | null): Month =>
  createdAt === null ? NO_MONTH : createdAt.slice(0, '2026-03'.length);

/** The months of several rows. */
export const monthsOf = (rows: Iterable<{ readonly createdAt: string | null }>): Set<Month> => {
  const months = new Set<Month>();
  for (const { createdAt } of rows) months.add(monthOf(createdAt));
  return months;
};

/** Condition: the row is in one of these partitions. `column`: its date. */
export function isInMonths(months: ReadonlySet<Month>, column: string): string {
  const spans = spansOf([...months].filter((month) => month !== NO_MONTH).toSorted());
  if (spans.length > MOST_SPANS) return 'TRUE';
  const conditions = spans.map(([from, to]) => {
    const begin = `${column} >= ${timeLiteral(`${from}-01T00:00:00.000Z`)}`;
    const next = monthAfter(to);
    return next === undefined
      ? `(${begin})`
      : `(${begin} AND ${column} < ${timeLiteral(`${next}-01T00:00:00.000Z`)})`;
  });
  if (months.has(NO_MONTH)) conditions.push(`${column} IS NULL`);
  return conditions.length === 0 ? 'FALSE' : `(${conditions.join(' OR ')})`;
}

/** Condition: the row is in none of these partitions; true of rows without a date unless they are named. */
export function isOutsideMonths(months: ReadonlySet<Month>, column: string): string {
  const dated = new Set([...months].filter((month) => month !== NO_MONTH));
  const outside = dated.size === 0 ? 'TRUE' : `NOT ${isInMonths(dated, column)}`;
  return months.has(NO_MONTH)
    ? `(${column} IS NOT NULL AND ${outside})`
    : `(${column} IS NULL OR ${outside})`;
}

/** A canonical time as BigQuery writes it. */
export const timeLiteral = (time: string): string =>
  `TIMESTAMP '${time.replace('T', ' ').replace(/(\.000)?Z$/, '')}+00'`;

/** Months that follow each other as one span, both ends included. `months`: in their order. */
function spansOf(months: readonly Month[]): [Month, Month][] {
  const spans: [Month, Month][] = [];
  for (const month of months) {
    const last = spans.at(-1);
    if (last !== undefined && monthAfter(last[1]) === month) last[1] = month;
    else spans.push([month, month]);
  }
  return spans;
}

/** Undefined after the last month that BigQuery has. */
function monthAfter(month: Month): Month | undefined {
  const [year, number] = [Number(month.slice(0, 4)), Number(month.slice(5))];
  if (number < 12) return `${month.slice(0, 4)}-${String(number + 1).padStart(2, '0')}`;
  return year === 9999 ? undefined : `${String(year + 1).padStart(4, '0')}-01`;
}
