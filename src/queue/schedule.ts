import { CronExpressionParser } from 'cron-parser';

/** When polls happen. */
export type Schedule =
  | { readonly everyMs: number }
  | { readonly cron: string; readonly timeZone: string };

/** The times of a cron expression after a moment. */
const timesAfter = (afterMs: number, { cron, timeZone: tz }: Extract<Schedule, { cron: string }>) =>
  CronExpressionParser.parse(cron, { tz, currentDate: new Date(afterMs) });

/** When the next poll is due after one that began at `afterMs`. Both in milliseconds since the epoch. */
export const nextRunMs = (schedule: Schedule, afterMs: number): number =>
  'everyMs' in schedule
    ? afterMs + schedule.everyMs
    : timesAfter(afterMs, schedule).next().getTime();

/** A week shows every gap of a sensible schedule. */
const LOOK_AHEAD_MS = 8 * 86_400_000;

/** The longest time between two polls in the week after `fromMs`, such as nights and weekends of a cron expression. */
export function longestGapMs(schedule: Schedule, fromMs: number): number {
  if ('everyMs' in schedule) return schedule.everyMs;
  const times = timesAfter(fromMs, schedule);
  let [longest, last] = [0, times.next().getTime()];
  while (last < fromMs + LOOK_AHEAD_MS) {
    const next = times.next().getTime();
    longest = Math.max(longest, next - last);
    last = next;
  }
  return longest;
}
