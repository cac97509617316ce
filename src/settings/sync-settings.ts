import { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../base/transport.ts';
import type { SettingsReader } from './settings-reader.ts';

/** When polls and row comparisons run by themselves. */
export interface ScheduleSettings {
  /** Polls: every so often, or by a cron expression in a time zone. */
  readonly incremental:
    | { readonly everyMs: number }
    | { readonly cron: string; readonly timeZone: string };
  /** Within this time every row is compared. */
  readonly fullEveryMs: number;
}

/** The shortest time between two polls, and for comparing every row: below it, more requests bring nothing. */
const LEAST_SYNC_MS = 10_000;
const LEAST_RECONCILE_MS = 60_000;

/**
 * The schedule. Complains when both an interval and a cron expression are given, and about one that would ask the source
 * (`sourceUrl`; undefined when none is set) too often.
 */
export function readSchedule(
  reader: SettingsReader,
  sourceUrl: string | undefined,
): ScheduleSettings {
  const [everyMs, cron] = [reader.read('SYNC_EVERY'), reader.read('SYNC_CRON')];
  const zone = reader.read('SYNC_TZ');
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY'))
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  const schedule = {
    incremental: cron === undefined ? { everyMs } : { cron, timeZone: zone },
    fullEveryMs: reader.read('RECONCILE_EVERY'),
  };
  // A source on this machine is a stand-in for experiments, which allow any interval.
  if (sourceUrl === undefined || isLoopback(new URL(sourceUrl).hostname)) return schedule;
  const complain = (name: 'SYNC_EVERY' | 'SYNC_CRON' | 'RECONCILE_EVERY', least: string): void =>
    reader.complain(
      name,
      `would ask the source too often: ${least} is the least (shorter is for a source on this machine)`,
    );
  // Enough of a pattern to see its shortest gap: one of seconds repeats each minute.
  const shortestMs = cron === undefined ? everyMs : Math.min(...gapsMs(schedule, 0, 60));
  if (shortestMs < LEAST_SYNC_MS) complain(cron === undefined ? 'SYNC_EVERY' : 'SYNC_CRON', '10s');
  if (schedule.fullEveryMs < LEAST_RECONCILE_MS) complain('RECONCILE_EVERY', '1m');
  return schedule;
}

/** A week shows every gap of a sensible schedule; MAX_RUNS is for expressions that match every second. */
const LOOK_AHEAD_MS = 8 * 86_400_000;
const MAX_RUNS = 12_000;

/** When the next poll is due after one that began at `afterMs`. Both in milliseconds since the epoch. */
export function nextRunMs({ incremental }: ScheduleSettings, afterMs: number): number {
  if ('everyMs' in incremental) return afterMs + incremental.everyMs;
  const { cron, timeZone: tz } = incremental;
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(afterMs) })
    .next()
    .getTime();
}

/** The longest time between two polls in the days after `fromMs`: nights and weekends of a cron expression. */
export const longestGapMs = (schedule: ScheduleSettings, fromMs: number): number =>
  gapsMs(schedule, fromMs, MAX_RUNS).reduce((longest, gap) => Math.max(longest, gap), 0);

/** The times between the first `count` polls after `fromMs`, and no further than a week. */
function gapsMs({ incremental }: ScheduleSettings, fromMs: number, count: number): number[] {
  if ('everyMs' in incremental) return [incremental.everyMs];
  const { cron, timeZone: tz } = incremental;
  const expression = CronExpressionParser.parse(cron, { tz, currentDate: new Date(fromMs) });
  const gaps: number[] = [];
  let last = expression.next().getTime();
  while (gaps.length < count && last < fromMs + LOOK_AHEAD_MS) {
    const next = expression.next().getTime();
    gaps.push(next - last);
    last = next;
  }
  return gaps;
}
