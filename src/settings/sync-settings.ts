import { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../base/transport.ts';
import type { Schedule } from '../queue/scheduler.ts';
import type { SettingsReader } from './settings-reader.ts';

/** The shortest times: more requests would bring nothing. */
const LEAST_SYNC_MS = 10_000;
const LEAST_RECONCILE_MS = 60_000;

/**
 * When polls happen, and within which time every row is compared. Complains when both an interval and a cron expression are given,
 * and about an interval that would ask the source (`sourceUrl`; undefined when none is set) too often.
 */
export function readSchedule(
  reader: SettingsReader,
  sourceUrl: string | undefined,
): { readonly schedule: Schedule; readonly compareEveryMs: number } {
  const [everyMs, cron] = [reader.read('SYNC_EVERY'), reader.read('SYNC_CRON')];
  const timeZone = reader.read('SYNC_TZ');
  const compareEveryMs = reader.read('RECONCILE_EVERY');
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY'))
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  // A source on this machine is a stand-in for experiments, which allow any interval.
  if (sourceUrl !== undefined && !isLoopback(new URL(sourceUrl).hostname)) {
    if (everyMs < LEAST_SYNC_MS) reader.complain('SYNC_EVERY', 'is too short: at least 10s');
    if (compareEveryMs < LEAST_RECONCILE_MS)
      reader.complain('RECONCILE_EVERY', 'is too short: at least 1m');
  }
  return { schedule: cron === undefined ? { everyMs } : { cron, timeZone }, compareEveryMs };
}

/** A week shows every gap of a sensible schedule. */
const LOOK_AHEAD_MS = 8 * 86_400_000;

/** The longest time between two polls in the week after `fromMs`: nights and weekends of a cron expression. */
export function longestGapMs(schedule: Schedule, fromMs: number): number {
  if ('everyMs' in schedule) return schedule.everyMs;
  const { cron, timeZone: tz } = schedule;
  const expression = CronExpressionParser.parse(cron, { tz, currentDate: new Date(fromMs) });
  let [longest, last] = [0, expression.next().getTime()];
  while (last < fromMs + LOOK_AHEAD_MS) {
    const next = expression.next().getTime();
    longest = Math.max(longest, next - last);
    last = next;
  }
  return longest;
}
