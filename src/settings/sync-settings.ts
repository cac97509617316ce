import { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../base/transport.ts';
import type { Schedule } from '../queue/scheduler.ts';
import type { SettingsReader } from './settings-reader.ts';

/** The shortest time between two polls, and for comparing every row: below it, more requests bring nothing. */
const LEAST_SYNC_MS = 10_000;
const LEAST_RECONCILE_MS = 60_000;

/**
 * When polls happen, and within which time every row is compared. Complains when both an interval and a cron expression are given,
 * and about what would ask the source (`sourceUrl`; undefined when none is set) too often.
 */
export function readSchedule(
  reader: SettingsReader,
  sourceUrl: string | undefined,
): { readonly schedule: Schedule; readonly compareEveryMs: number } {
  const [everyMs, cron] = [reader.read('SYNC_EVERY'), reader.read('SYNC_CRON')];
  const zone = reader.read('SYNC_TZ');
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY'))
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  const schedule: Schedule = cron === undefined ? { everyMs } : { cron, timeZone: zone };
  const read = { schedule, compareEveryMs: reader.read('RECONCILE_EVERY') };
  // A source on this machine is a stand-in for experiments, which allow any interval.
  if (sourceUrl === undefined || isLoopback(new URL(sourceUrl).hostname)) return read;
  const complain = (name: 'SYNC_EVERY' | 'SYNC_CRON' | 'RECONCILE_EVERY', least: string): void =>
    reader.complain(
      name,
      `would ask the source too often: ${least} is the least (shorter is for a source on this machine)`,
    );
  // Enough of a pattern to see its shortest gap: one of seconds repeats each minute.
  const shortestMs = cron === undefined ? everyMs : Math.min(...gapsMs(schedule, 0, 60));
  if (shortestMs < LEAST_SYNC_MS) complain(cron === undefined ? 'SYNC_EVERY' : 'SYNC_CRON', '10s');
  if (read.compareEveryMs < LEAST_RECONCILE_MS) complain('RECONCILE_EVERY', '1m');
  return read;
}

/** A week shows every gap of a sensible schedule; MAX_RUNS is for expressions that match every second. */
const LOOK_AHEAD_MS = 8 * 86_400_000;
const MAX_RUNS = 12_000;

/** The longest time between two polls in the days after `fromMs`: nights and weekends of a cron expression. */
export const longestGapMs = (schedule: Schedule, fromMs: number): number =>
  gapsMs(schedule, fromMs, MAX_RUNS).reduce((longest, gap) => Math.max(longest, gap), 0);

/** The times between the first `count` polls after `fromMs`, and no further than a week. */
function gapsMs(schedule: Schedule, fromMs: number, count: number): number[] {
  if ('everyMs' in schedule) return [schedule.everyMs];
  const { cron, timeZone: tz } = schedule;
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
