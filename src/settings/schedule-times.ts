import { CronExpressionParser } from 'cron-parser';
import type { ScheduleSettings } from './work-settings.ts';

/** When the schedule wants the next incremental pass after one that began at `afterMs`. Both since the epoch. */
export function nextDueMs({ incremental }: ScheduleSettings, afterMs: number): number {
  if ('everyMs' in incremental) return afterMs + incremental.everyMs;
  const { cron, timeZone: tz } = incremental;
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(afterMs) })
    .next()
    .getTime();
}
