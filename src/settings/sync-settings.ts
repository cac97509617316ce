import { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../base/transport.ts';
import { STATUSES } from '../mirror/types.ts';
import type { SettingsReader } from './settings-reader.ts';
import { cronPattern, duration, listOf, oneOf, timeZone } from './value-schemas.ts';

/** When polls and row comparisons run by themselves. */
export interface ScheduleSettings {
  /** Polls: every so often, or by a cron expression in a time zone. */
  readonly incremental:
    | { readonly everyMs: number }
    | { readonly cron: string; readonly timeZone: string };
  /** Within this time every row is compared. */
  readonly fullEveryMs: number;
}

/** What write-back changes at the source. */
export interface MarkSettings {
  readonly status: string;
  /** Only submissions in one of these are marked; never holds `status`. */
  readonly from: readonly string[];
}

/**
 * The least time between two polls, and for comparing every row: a shorter one asks the source more than it brings.
 * A source on this machine is a stand-in, for trying things out: there anything goes.
 */
const LEAST_SYNC_MS = 10_000;
const LEAST_RECONCILE_MS = 60_000;

/**
 * The schedule. Complains when both an interval and a cron expression are given, and about one that would ask the source
 * (`sourceUrl`; undefined when none is set) too often.
 */
export function readSchedule(
  reader: SettingsReader,
  warnings: string[],
  sourceUrl: string | undefined,
): ScheduleSettings {
  const everyMs = reader.readWithDefault('SYNC_EVERY', duration);
  const cron = reader.read('SYNC_CRON', cronPattern);
  const zone = reader.readWithDefault('SYNC_TZ', timeZone);
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY')) {
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  }
  if (reader.isGiven('SYNC_TZ') && !reader.isGiven('SYNC_CRON')) {
    warnings.push('SYNC_TZ does nothing without SYNC_CRON.');
  }
  const schedule = {
    incremental: cron === undefined ? { everyMs } : { cron, timeZone: zone },
    fullEveryMs: reader.readWithDefault('RECONCILE_EVERY', duration),
  };
  if (sourceUrl !== undefined && !isLoopback(new URL(sourceUrl).hostname)) {
    complainAboutHaste(reader, schedule);
  }
  return schedule;
}

function complainAboutHaste(reader: SettingsReader, schedule: ScheduleSettings): void {
  const complain = (name: 'SYNC_EVERY' | 'SYNC_CRON' | 'RECONCILE_EVERY', least: string): void =>
    reader.complain(
      name,
      `would ask the source too often: ${least} is the least (shorter is for a source on this machine)`,
    );
  if (shortestGapMs(schedule) < LEAST_SYNC_MS) {
    complain('everyMs' in schedule.incremental ? 'SYNC_EVERY' : 'SYNC_CRON', '10s');
  }
  if (schedule.fullEveryMs < LEAST_RECONCILE_MS) complain('RECONCILE_EVERY', '1m');
}

/** Write-back; undefined when it is off. */
export function readMarking(reader: SettingsReader, warnings: string[]): MarkSettings | undefined {
  const status = reader.read('MARK_STATUS', oneOf(STATUSES));
  const from = reader.readWithDefault('MARK_FROM', listOf(STATUSES));
  if (status === undefined) {
    if (reader.isGiven('MARK_FROM') && !reader.isGiven('MARK_STATUS')) {
      warnings.push('MARK_FROM does nothing without MARK_STATUS: no status is ever changed.');
    }
    return undefined;
  }
  if (from.includes(status)) {
    reader.complain(
      'MARK_FROM',
      `holds ${status}, which is MARK_STATUS itself: name the statuses to mark from`,
    );
  }
  return { status, from };
}

/** A week shows every gap of a sensible schedule; MAX_RUNS is for expressions that match every second. */
const LOOK_AHEAD_MS = 8 * 86_400_000;
const MAX_RUNS = 12_000;

/** When the next poll is due after one that began at `afterMs`. Both in milliseconds since the epoch. */
export function nextRunMs({ incremental }: ScheduleSettings, afterMs: number): number {
  if ('everyMs' in incremental) return afterMs + incremental.everyMs;
  return runs(incremental, afterMs).next().getTime();
}

/** Enough of a pattern to see its shortest gap: one of seconds repeats each minute. */
const FIRST_RUNS = 60;

/** The least time between two polls, as far as the next {@link FIRST_RUNS} show. */
const shortestGapMs = ({ incremental }: ScheduleSettings): number =>
  'everyMs' in incremental ? incremental.everyMs : Math.min(...gapsMs(incremental, 0, FIRST_RUNS));

/** The longest time between two polls in the days after `fromMs`: nights and weekends of a cron expression. */
export const longestGapMs = ({ incremental }: ScheduleSettings, fromMs: number): number =>
  'everyMs' in incremental
    ? incremental.everyMs
    : gapsMs(incremental, fromMs, MAX_RUNS).reduce((longest, gap) => Math.max(longest, gap), 0);

/** The times between the first `count` runs of a cron expression after `fromMs`, and no further than a week. */
function gapsMs(cron: { cron: string; timeZone: string }, fromMs: number, count: number): number[] {
  const expression = runs(cron, fromMs);
  const gaps: number[] = [];
  let last = expression.next().getTime();
  while (gaps.length < count && last < fromMs + LOOK_AHEAD_MS) {
    const next = expression.next().getTime();
    gaps.push(next - last);
    last = next;
  }
  return gaps;
}

function runs({ cron, timeZone: tz }: { cron: string; timeZone: string }, fromMs: number) {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(fromMs) });
}
