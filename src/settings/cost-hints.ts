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
/** Tables that a look touches which finds nothing, whatever the number of forms: what is kept of them, read once. */
export const LOOK_TABLES = 1;
/** With each form that it stores something of: the lease, the rows that are there, the scripts that write, and the next look, which counts. */
export const STORING_TABLES = 12;

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
    const look = LOOK_TABLES * least;
    const aDay = ticks * look;
    const limit =
      maxBytesPerDay === undefined
        ? ', and set BIGQUERY_MAX_BYTES_PER_DAY'
        : ` (BIGQUERY_MAX_BYTES_PER_DAY ends it at ${bytes(maxBytesPerDay)} a day)`;
    return [
      {
        target: name,
        message:
          `${productOf(kind)} bills ${bytes(least)} at least for each table that a statement touches. A look that finds nothing touches ` +
          `${LOOK_TABLES}, whatever the number of forms: ${count(ticks)} looks a day cost ${bytes(aDay)} (${count(ticks)} × ${bytes(look)}), ` +
          `${bytes(aDay * DAYS)} in ${DAYS} days; each time that something of a form is stored adds some ${bytes(STORING_TABLES * least)}, ${bytes(ticks * STORING_TABLES * least)} a day for a form that changes all the time`,
        remedy: `SYNC_EVERY=15m looks ${SENSIBLE_TICKS} times a day${limit}`,
      },
    ];
  });
}
