import type { CountQuery, Entry } from './port.ts';

/*
 * What counts: which submissions a query asks for, and what an entry adds to the submissions that a target accounts for. Every kind
 * of target counts by these rules: a SQL target with queries (targets/sql/tally.ts), a sheet in memory
 * (targets/google-sheets/accounting.ts).
 */

/** The number that an entry adds to the submissions accounted for. `isLive`: the submission has a live row. */
export function signOf(
  { kind, status }: Pick<Entry, 'kind' | 'status'>,
  isLive: boolean,
): -1 | 0 | 1 {
  if (kind === 'held' || kind === 'undecided') return isLive ? -1 : 0;
  if (kind === 'rejected') return isLive ? 0 : 1;
  return kind === 'forgotten' && status !== null ? 1 : 0;
}

/** Whether a query asks for this submission. A submission without a date is in no query with a bound. */
export function isIn(
  { status, createdAt }: Pick<Entry, 'status' | 'createdAt'>,
  { status: wanted, fromMs = null, toMs = null }: CountQuery,
): boolean {
  if (wanted !== undefined && status !== wanted) return false;
  if (fromMs === null && toMs === null) return true;
  const ms = createdAt === null ? NaN : Date.parse(createdAt);
  return !Number.isNaN(ms) && (fromMs === null || ms >= fromMs) && (toMs === null || ms < toMs);
}
