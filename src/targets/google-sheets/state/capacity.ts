import type { MirrorError } from '../../../base/errors.ts';
import { count, plural } from '../../../base/format.ts';
import { MAX_CELLS } from '../api/size-limits.ts';
import type { FormTab, Structure } from './structure.ts';
import { cellCount } from './structure.ts';
import { fullError } from '../api/sheets-error.ts';

const DAY_MS = 86_400_000;
/** Growth over less than this says nothing. */
const MIN_SPAN_MS = DAY_MS / 2;

/** How full a spreadsheet is, and when it will be full at the rate of late. */
export interface Capacity {
  readonly cells: number;
  /** Of {@link MAX_CELLS}, 0 to 1. */
  readonly share: number;
  /** Submissions that there is room for; undefined while there is no tab for any. */
  readonly rowsLeft: number | undefined;
  /** Days until it is full; undefined when it does not grow, or not enough is known yet. */
  readonly daysLeft: number | undefined;
}

/** Measures it as of `now` (ISO). */
export function capacityOf(structure: Structure, now: string): Capacity {
  const cells = cellCount(structure);
  const tabs = [...structure.forms.values()];
  const perDay = tabs.map((tab) => ({ rows: rowsPerDay(tab, now), columns: tab.columnCount }));
  const cellsPerDay = perDay.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  const rowsInAll = perDay.reduce((sum, { rows }) => sum + rows, 0);
  // As wide as those of late; where none came, as wide as the widest.
  const width =
    rowsInAll > 0 ? cellsPerDay / rowsInAll : Math.max(0, ...tabs.map((tab) => tab.columnCount));
  const left = Math.max(0, MAX_CELLS - cells);
  return {
    cells,
    share: cells / MAX_CELLS,
    rowsLeft: width > 0 ? Math.floor(left / width) : undefined,
    daysLeft: cellsPerDay > 0 ? Math.floor(left / cellsPerDay) : undefined,
  };
}

function rowsPerDay(tab: FormTab, now: string): number {
  const { growth, counts } = tab.state;
  if (growth === null) return 0;
  const spanMs = Date.parse(now) - Date.parse(growth.since);
  const rows = counts.live + counts.removed - growth.rows;
  return spanMs >= MIN_SPAN_MS && rows > 0 ? (rows * DAY_MS) / spanMs : 0;
}

/** In words, for how many submissions and for how long there is room. Without a full stop. */
export function capacityText({ share, rowsLeft, daysLeft }: Capacity): string {
  const percent = share < 0.001 ? 'less than 0.1%' : `${(share * 100).toFixed(1)}%`;
  const inUse = `${percent} of Google's 10 million cells are in use`;
  if (rowsLeft === undefined) return inUse;
  const room = `Room for about ${plural(rounded(rowsLeft), 'more submission')}`;
  const forecast = daysLeft === undefined ? '' : `; full in ${span(daysLeft)} at the rate of late`;
  return `${room}${forecast} (${inUse})`;
}

/** Two digits: a forecast knows no more. */
function rounded(number: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, number))) - 1);
  return Math.floor(number / unit) * unit;
}

const [MONTH_DAYS, YEAR_DAYS] = [365 / 12, 365];

/** A time in the largest unit of which there are at least two. */
function span(days: number): string {
  if (days > 10 * YEAR_DAYS) return 'more than ten years';
  if (days >= 2 * YEAR_DAYS) return `about ${plural(Math.floor(days / YEAR_DAYS), 'year')}`;
  if (days >= 2 * MONTH_DAYS) return `about ${plural(Math.floor(days / MONTH_DAYS), 'month')}`;
  return days < 1 ? 'less than a day' : `about ${plural(days, 'day')}`;
}

/** The rows to be written do not fit. */
export const capacityError = (address: string, structure: Structure): MirrorError =>
  fullError(address, ` ${count(cellCount(structure))} are in use.`);

/** How long growth is counted from one point before a new one is taken. */
const GROWTH_SPAN_MS = 30 * DAY_MS;

/** From where growth is counted, after another `now`: the first pass's rows are no growth. */
export function growthSince(
  growth: { since: string; rows: number } | null,
  rows: number,
  now: string,
): { since: string; rows: number } {
  if (growth !== null && Date.parse(now) - Date.parse(growth.since) < GROWTH_SPAN_MS) return growth;
  return { since: now, rows };
}
