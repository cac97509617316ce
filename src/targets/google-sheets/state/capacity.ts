import type { MirrorError } from '../../../base/errors.ts';
import { count } from '../../../base/format.ts';
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
  /** Days until it is full; undefined when it does not grow, or not enough is known yet. */
  readonly daysLeft: number | undefined;
}

/** Measures it as of `now` (ISO). */
export function capacityOf(structure: Structure, now: string): Capacity {
  const cells = cellCount(structure);
  const perDay = [...structure.forms.values()].reduce((sum, tab) => sum + cellsPerDay(tab, now), 0);
  const left = Math.max(0, MAX_CELLS - cells);
  return {
    cells,
    share: cells / MAX_CELLS,
    daysLeft: perDay > 0 ? Math.floor(left / perDay) : undefined,
  };
}

function cellsPerDay(tab: FormTab, now: string): number {
  const { growth, counts } = tab.state;
  if (growth === null) return 0;
  const spanMs = Date.parse(now) - Date.parse(growth.since);
  const rows = counts.live + counts.removed - growth.rows;
  return spanMs >= MIN_SPAN_MS && rows > 0 ? (rows * tab.columnCount * DAY_MS) / spanMs : 0;
}

export function capacityText({ share, daysLeft }: Capacity): string {
  const percent = share < 0.001 ? 'less than 0.1%' : `${(share * 100).toFixed(1)}%`;
  const forecast =
    daysLeft === undefined ? '' : `; at the rate of late it is full in ${days(daysLeft)}`;
  return `${percent} of Google's 10 million cells are in use${forecast}`;
}

const days = (number: number): string =>
  number > 3_650 ? 'more than ten years' : number === 1 ? 'one day' : `${number} days`;

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
