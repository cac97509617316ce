import { type StatusCounts, tallied } from '../../../mirror/status-counts.ts';
import type { TimeCount, TimeGrain, TimeSpan } from '../../../mirror/time-counts.ts';
import { compareTimes } from '../../../mirror/canonical-time.ts';
import type { SheetsApi } from '../api/sheets-api.ts';
import type { Layout } from '../columns/layout.ts';
import type { SerialTime } from './serial-time.ts';
import { type IndexedRow, keyColumnsOf, RowIndex } from './row-index.ts';
import { timeOf } from './row-values.ts';
import { readColumns } from './tab-reading.ts';

/** A row that is not marked removed, and its date (canonical time). */
export interface DatedRow extends IndexedRow {
  readonly createdAt: string;
}

/** Rows not marked removed, by status. */
export const countStatuses = (index: RowIndex): StatusCounts =>
  tallied([...index].filter(({ removed }) => !removed));

/** Rows not marked removed that are dated within the span, in the order of the tab: one read of the key columns and the dates. */
export async function readDatedRows(
  api: SheetsApi,
  { layout, time }: { readonly layout: Layout; readonly time: SerialTime },
  span: TimeSpan,
): Promise<DatedRow[]> {
  const keys = [...new Set([...keyColumnsOf(layout), 's:at'] as const)];
  const read = await readColumns(api, layout, { keys });
  const dates = read.columns.get('s:at')?.values;
  const rows: DatedRow[] = [];
  for (const row of RowIndex.fromColumns(read)) {
    const createdAt = timeOf(dates?.[row.row], time);
    if (row.removed || createdAt === null || !isWithin(createdAt, span)) continue;
    rows.push({ ...row, createdAt });
  }
  return rows;
}

/** How many of the rows there are of each date and status, in order of time. */
export function countDates(rows: readonly DatedRow[], grain: TimeGrain): TimeCount[] {
  const groups = Map.groupBy(rows, ({ createdAt, status }) =>
    JSON.stringify([startOf(createdAt, grain), status]),
  );
  return [...groups.keys()].sort().map((key) => {
    const [start, status] = JSON.parse(key) as [string, string];
    return { start, status, rows: groups.get(key)?.length ?? 0 };
  });
}

const isWithin = (time: string, { from, to }: TimeSpan): boolean =>
  (from === null || compareTimes(time, from) >= 0) && (to === null || compareTimes(time, to) < 0);

/** The part of a canonical time that says its day, hour, minute or second. */
const LENGTHS = { day: 10, hour: 13, minute: 16, second: 19 } as const;

const startOf = (time: string, grain: TimeGrain): string =>
  `${time.slice(0, LENGTHS[grain])}${'T00:00:00.000Z'.slice(LENGTHS[grain] - 10)}`;
