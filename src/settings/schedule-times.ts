import { CronExpressionParser } from 'cron-parser';
import type { ScheduleSettings } from './work-settings.ts';

const DAY_MS = 86_400_000;
/** A week shows every gap of a schedule that people make; the bound is for expressions that fire each second. */
const LOOK_AHEAD_MS = 8 * DAY_MS;
const MOST_TICKS = 12_000;

/** When the schedule wants the next incremental pass after one that began at `afterMs`. Both since the epoch. */
export function nextDueMs({ incremental }: ScheduleSettings, afterMs: number): number {
  if ('everyMs' in incremental) return afterMs + incremental.everyMs;
  return ticks(incremental, afterMs).next().getTime();
}

/** The longest time between two incremental passes in the days after `fromMs`: nights and weekends of a cron expression. */
export function longestGapMs({ incremental }: ScheduleSettings, fromMs: number): number {
  if ('everyMs' in incremental) return incremental.everyMs;
  const expression = ticks(incremental, fromMs);
  let last = expression.next().getTime();
  let longest = 0;
  for (let tick = 0; tick < MOST_TICKS && last < fromMs + LOOK_AHEAD_MS; tick++) {
    const next = expression.next().getTime();
    longest = Math.max(longest, next - last);
    last = next;
  }
  return longest;
}

function ticks({ cron, timeZone: tz }: { cron: string; timeZone: string }, fromMs: number) {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(fromMs) });
}
