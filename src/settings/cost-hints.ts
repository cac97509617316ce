import { bytes, count } from '../base/format.ts';
import type { Config } from '../config.ts';
import { leastBilledBytes, productOf } from '../targets/target-kinds.ts';
import { ticksBetween } from './sync-settings.ts';

/** What is said of a target: what the schedule costs there, and what to do. */
export interface CostHint {
  readonly target: string;
  readonly message: string;
  readonly remedy: string;
}

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Ticks every 15 minutes: what is billed of them is no matter. */
const SENSIBLE_TICKS = 96;
/** Tables that a look touches: what is kept of all forms, some times over, and the table of each form. */
const LOOK_TABLES = 11;
/** And with each form that it stores something of: the lease, the rows that are there, and the scripts that write. */
const STORING_TABLES = 12;

/** What looking as often as the schedule says costs in targets that bill each statement. Empty where that is little. */
export function costHints(
  { targets, schedule }: Pick<Config, 'targets' | 'schedule'>,
  nowMs: number,
): CostHint[] {
  const ticks = ticksBetween(schedule, nowMs, nowMs + DAY_MS);
  if (ticks <= SENSIBLE_TICKS) return [];
  return targets.flatMap(({ name, address: { kind }, maxBytesPerDay }): CostHint[] => {
    const least = leastBilledBytes(kind);
    if (least === 0) return [];
    const look = (LOOK_TABLES + 1) * least;
    const aDay = ticks * look;
    const limit =
      maxBytesPerDay === undefined
        ? ', and set BIGQUERY_MAX_BYTES_PER_DAY'
        : ` (BIGQUERY_MAX_BYTES_PER_DAY ends it at ${bytes(maxBytesPerDay)} a day)`;
    return [
      {
        target: name,
        message:
          `${productOf(kind)} bills ${bytes(least)} at least for each table that a statement touches. A look that finds nothing touches some ` +
          `${LOOK_TABLES}, and one more for each form: with one form, ${count(ticks)} looks a day cost ${bytes(aDay)} (${count(ticks)} × ${bytes(look)}), ` +
          `${bytes(aDay * DAYS)} in ${DAYS} days; each further form adds ${bytes(ticks * least)} a day, and each time that something of a form is stored ${bytes(STORING_TABLES * least)}`,
        remedy: `SYNC_EVERY=15m looks ${SENSIBLE_TICKS} times a day${limit}`,
      },
    ];
  });
}
