import { createHmac, randomBytes } from 'node:crypto';
import { sumOf, type Tally } from './form-state.ts';
import {
  type Change,
  type Count,
  type CountQuery,
  type Entry,
  type EntryKind,
  type Grain,
  GRAIN_MS,
  type StoredRow,
} from './port.ts';

/*
 * Computes what a form accounts for from rows and entries in memory. A SQL store does the same with queries.
 */

/** The part of a row that is counted. */
export type LedgerRow = Omit<StoredRow, 'cells'>;

/** By {@link entryKey}. */
export type Entries = ReadonlyMap<string, Entry>;

export const entryKey = ({ kind, id }: Pick<Entry, 'kind' | 'id'>): string => `${kind} ${id}`;

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

/** What a query's submissions amount to, by status and time: live rows, plus and minus what entries add and subtract. */
export function countsOf(
  rows: ReadonlyMap<string, LedgerRow>,
  entries: Entries,
  query: CountQuery,
  grain: Grain,
): Count[] {
  const counts = new Map<string, Count>();
  const add = ({ status, createdAt }: Pick<Entry, 'status' | 'createdAt'>, sign: number): void => {
    if (status === null) return;
    const ms = createdAt === null ? null : Date.parse(createdAt);
    const span = GRAIN_MS[grain];
    const fromMs = ms === null || grain === 'all' ? null : Math.floor(ms / span) * span;
    const key = `${status} ${fromMs}`;
    counts.set(key, { status, fromMs, count: (counts.get(key)?.count ?? 0) + sign });
  };
  for (const row of rows.values()) if (row.deletedAt === null && isIn(row, query)) add(row, 1);
  for (const entry of entries.values()) {
    const row = rows.get(entry.id);
    const sign = signOf(entry, row?.deletedAt === null);
    const of = sign < 0 && row !== undefined ? row : entry;
    if (sign !== 0 && isIn(of, query)) add(of, sign);
  }
  return [...counts.values()].filter(({ count }) => count !== 0);
}

export function tallyOf(rows: ReadonlyMap<string, LedgerRow>, entries: Entries): Tally {
  const live = new Map<string, number>();
  const missing = new Map<string, number>();
  const unstored = new Map<string, number>();
  const add = (map: Map<string, number>, status: string | null): void =>
    void (status !== null && map.set(status, (map.get(status) ?? 0) + 1));
  let deleted = 0;
  for (const { status, deletedAt } of rows.values())
    if (deletedAt === null) add(live, status);
    else deleted++;
  const kinds = { held: 0, undecided: 0, refused: 0, rejected: 0, forgotten: 0 };
  for (const entry of entries.values()) {
    kinds[entry.kind]++;
    const row = rows.get(entry.id);
    const sign = signOf(entry, row?.deletedAt === null);
    if (sign < 0) add(missing, row?.status ?? '');
    if (sign > 0) add(unstored, entry.status);
  }
  return {
    ...kinds,
    deleted,
    rows: Object.fromEntries(live),
    missing: Object.fromEntries(missing),
    unstored: Object.fromEntries(unstored),
  };
}

/** The entries that a stored row ends, and those that a deletion or an erasure ends. */
const ENDED_BY_ROW: readonly EntryKind[] = ['held', 'undecided', 'rejected'];
const ENDED_BY_DELETION: readonly EntryKind[] = ['rejected', 'held', 'undecided', 'refused'];

/**
 * Entries after a change. `stored`: IDs of the rows that it stores; `digestOf`: the ID of a forgotten submission's entry. A row or
 * entry of a forgotten submission is not stored; its status is copied to the forgotten entry instead.
 */
export function entriesAfter(
  before: Entries,
  { rows = [], entries = [], settled = [], deleted = [] }: Change,
  stored: Iterable<string>,
  digestOf: (id: string) => string,
): Map<string, Entry> {
  const after = new Map(before);
  const isAnyForgotten = [...before.values()].some(({ kind }) => kind === 'forgotten');
  const follow = ({
    id,
    status,
    createdAt,
  }: Pick<Entry, 'id' | 'status' | 'createdAt'>): boolean => {
    if (!isAnyForgotten) return false;
    const key = `forgotten ${digestOf(id)}`;
    const entry = after.get(key);
    if (entry !== undefined) after.set(key, { ...entry, status, createdAt });
    return entry !== undefined;
  };
  for (const row of rows) follow(row);
  for (const id of stored) for (const kind of ENDED_BY_ROW) after.delete(entryKey({ kind, id }));
  for (const { kind, ids } of settled) for (const id of ids) after.delete(entryKey({ kind, id }));
  for (const id of deleted)
    for (const kind of ENDED_BY_DELETION) after.delete(entryKey({ kind, id }));
  for (const entry of entries)
    if (entry.kind === 'forgotten' || !follow(entry)) after.set(entryKey(entry), entry);
  return after;
}

/** Notes in `entries` that a submission was forgotten. `row`: its row; `digest`: the ID of its entry from now on. */
export function forgetIn(
  entries: Map<string, Entry>,
  id: string,
  row: LedgerRow | undefined,
  { digest, atMs }: { readonly digest: string; readonly atMs: number },
): void {
  const listed = entries.get(entryKey({ kind: 'rejected', id }));
  const { status, createdAt } = (row?.deletedAt === null ? row : listed) ?? {
    status: null,
    createdAt: null,
  };
  for (const kind of ENDED_BY_DELETION) entries.delete(entryKey({ kind, id }));
  const entry: Entry = { kind: 'forgotten', id: digest, status, createdAt, reason: '', atMs };
  if (!entries.has(entryKey(entry))) entries.set(entryKey(entry), entry);
}

/** The moment that best halves the counted submissions, strictly within [fromMs, toMs). Null if no moment divides them. */
export function halve(
  counts: readonly Count[],
  fromMs: number | null,
  toMs: number | null,
): number | null {
  const dated = byTime(counts);
  const sum = sumOf(dated.map(([, count]) => count));
  let [before, best, distance] = [0, null as number | null, Infinity];
  for (const [at, count] of dated) {
    const isInside = (fromMs === null || at > fromMs) && (toMs === null || at < toMs);
    const off = Math.abs(before - sum / 2);
    // Nothing precedes the first moment, so a cut there divides nothing.
    if (isInside && before > 0 && off < distance) [best, distance] = [at, off];
    before += count;
  }
  return best;
}

/** The dated counts of all statuses, the oldest first. */
function byTime(counts: readonly Count[]): [atMs: number, count: number][] {
  const sums = new Map<number, number>();
  for (const { fromMs: at, count } of counts)
    if (at !== null) sums.set(at, (sums.get(at) ?? 0) + count);
  return [...sums].toSorted(([a], [b]) => a - b);
}

/** Moments that cut the counted submissions into parts of about `size`. */
export function cutsOf(counts: readonly Count[], size: number): number[] {
  const cuts: number[] = [];
  let since = 0;
  for (const [at, count] of byTime(counts)) {
    if (since >= size) {
      cuts.push(at);
      since = 0;
    }
    since += count;
  }
  return cuts;
}

/** What to do after the list of forgotten submissions was lost, for messages. */
export const FORGET_AGAIN =
  'Then run forms-mirror forget again for submissions that were erased on request.';

/**
 * The digest by which a target knows a forgotten submission, so that no run brings it back: a random salt, and a hash that it keys.
 * It does not show the ID, and cannot be joined with another list. A reader of the target can still find out whether a known ID was
 * forgotten. The salt is not a setting, because a changed setting would bring the rows back.
 */
export function forgottenDigest(salt: string, formId: string, submissionId: string): string {
  const id = JSON.stringify([formId, submissionId]);
  return salt + createHmac('sha256', salt).update(id).digest('base64url');
}

const SALT_BYTES = 16;
const SALT_CHARACTERS = Math.ceil((SALT_BYTES * 8) / 6);

/** The salt for all digests of a form: that of any of them, or a new one before the first. */
export const saltOf = (digest: string | undefined): string =>
  digest?.slice(0, SALT_CHARACTERS) ?? randomBytes(SALT_BYTES).toString('base64url');
