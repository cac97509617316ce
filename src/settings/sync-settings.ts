import { CronExpressionParser } from 'cron-parser';
import { isLoopback } from '../base/transport.ts';
import { STATUSES } from '../mirror/types.ts';
import type { SettingsReader } from './settings-reader.ts';
import { cronPattern, duration, fraction, listOf, oneOf, timeZone } from './value-schemas.ts';

/** When passes run by themselves. */
export interface ScheduleSettings {
  /** What is new: every so often, or by a cron expression in a time zone. */
  readonly incremental:
    | { readonly everyMs: number }
    | { readonly cron: string; readonly timeZone: string };
  /** Everything. */
  readonly fullEveryMs: number;
}

/** What marking does at the source. */
export interface MarkSettings {
  readonly status: string;
  /** Only submissions in one of these are marked; never holds `status`. */
  readonly from: readonly string[];
}

/**
 * The least time between two looks, and between two passes over everything: a shorter one asks the source more than it
 * brings. A source on this machine is a stand-in, for trying things out: there anything goes.
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

/** Marking; undefined when it is off. */
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

/** The brake on deletions, as a part of one. */
export const readMaxDeleteFraction = (reader: SettingsReader): number =>
  reader.readWithDefault('MAX_DELETE_FRACTION', fraction);

/** How long rows marked deleted stay, in milliseconds; undefined: for ever. */
export const readPurgeDeletedAfter = (reader: SettingsReader): number | undefined =>
  reader.read('PURGE_DELETED_AFTER', duration);

/** How long histories tell what was before, in milliseconds; undefined: for ever. */
export const readPurgeHistoryAfter = (reader: SettingsReader): number | undefined =>
  reader.read('PURGE_HISTORY_AFTER', duration);

const DAY_MS = 86_400_000;
/** A week shows every gap of a sensible schedule; MAX_RUNS is for expressions that match every second. */
const LOOK_AHEAD_MS = 8 * DAY_MS;
const MAX_RUNS = 12_000;

/** When the next incremental pass is due after one that began at `afterMs`. Both in milliseconds since the epoch. */
export function nextRunMs({ incremental }: ScheduleSettings, afterMs: number): number {
  if ('everyMs' in incremental) return afterMs + incremental.everyMs;
  return runs(incremental, afterMs).next().getTime();
}

/** A pattern of seconds repeats each minute. */
const RUNS_OF_A_MINUTE = 60;

function shortestGapMs({ incremental }: ScheduleSettings): number {
  if ('everyMs' in incremental) return incremental.everyMs;
  const expression = runs(incremental, 0);
  let shortest = Infinity;
  let last = expression.next().getTime();
  for (let run = 0; run < RUNS_OF_A_MINUTE; run++) {
    const next = expression.next().getTime();
    shortest = Math.min(shortest, next - last);
    last = next;
  }
  return shortest;
}

/** The longest time between two incremental passes in the days after `fromMs`: nights and weekends of a cron expression. */
export function longestGapMs({ incremental }: ScheduleSettings, fromMs: number): number {
  if ('everyMs' in incremental) return incremental.everyMs;
  const expression = runs(incremental, fromMs);
  let last = expression.next().getTime();
  let longest = 0;
  for (let run = 0; run < MAX_RUNS && last < fromMs + LOOK_AHEAD_MS; run++) {
    const next = expression.next().getTime();
    longest = Math.max(longest, next - last);
    last = next;
  }
  return longest;
}

/** Runs that are counted one by one; further ones are taken to come as often. */
const MAX_COUNTED = 1_000;

/** How many ticks there are after `fromMs`, until `toMs`, for whatever schedule; about how many where they are very many. */
export function ticksBetween(
  { incremental }: ScheduleSettings,
  fromMs: number,
  toMs: number,
): number {
  if (toMs <= fromMs) return 0;
  if ('everyMs' in incremental) return Math.floor((toMs - fromMs) / incremental.everyMs);
  const expression = runs(incremental, fromMs);
  for (let counted = 0; counted < MAX_COUNTED; counted++) {
    const atMs = expression.next().getTime();
    if (atMs > toMs) return counted;
    if (counted + 1 === MAX_COUNTED) {
      return Math.floor((MAX_COUNTED * (toMs - fromMs)) / (atMs - fromMs));
    }
  }
  return MAX_COUNTED;
}

function runs({ cron, timeZone: tz }: { cron: string; timeZone: string }, fromMs: number) {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(fromMs) });
}
