import type { SettingsReader } from './settings-reader.ts';
import { cronPattern, duration, fraction, listOf, oneOf, timeZone } from './value-schemas.ts';

/** The statuses that the Forms API documents. */
const STATUSES = ['NEW', 'IN_PROGRESS', 'DONE', 'PAID', 'REJECTED', 'ARCHIVED'] as const;

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

/** The schedule. Complains when both an interval and a cron expression are given. */
export function readSchedule(reader: SettingsReader, warnings: string[]): ScheduleSettings {
  const everyMs = reader.readWithDefault('SYNC_EVERY', duration);
  const cron = reader.read('SYNC_CRON', cronPattern);
  const zone = reader.readWithDefault('SYNC_TZ', timeZone);
  if (reader.isGiven('SYNC_CRON') && reader.isGiven('SYNC_EVERY')) {
    reader.complain('SYNC_CRON', 'and SYNC_EVERY are both set: keep one of them');
  }
  if (reader.isGiven('SYNC_TZ') && !reader.isGiven('SYNC_CRON')) {
    warnings.push('SYNC_TZ does nothing without SYNC_CRON.');
  }
  return {
    incremental: cron === undefined ? { everyMs } : { cron, timeZone: zone },
    fullEveryMs: reader.readWithDefault('RECONCILE_EVERY', duration),
  };
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
