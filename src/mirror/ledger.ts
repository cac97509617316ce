import { EMPTY_TALLY, type Tally } from './form-state.ts';
import { GRAIN_MS } from './halving.ts';
import type { Change, Count, CountQuery, Entry, EntryKind, Grain, StoredRow } from './port.ts';

/*
 * What a form accounts for, where a store has rows and entries in memory. A SQL store has the same as queries.
 */

/** As much of a row as is counted. */
export interface LedgerRow extends Pick<StoredRow, 'id' | 'status' | 'createdAt'> {
  readonly isDeleted: boolean;
}
/** By {@link entryKey}. */
export type Entries = ReadonlyMap<string, Entry>;

export const entryKey = ({ kind, id }: Pick<Entry, 'kind' | 'id'>): string => `${kind} ${id}`;

/** What an entry adds to the number that is accounted for. `row`: of the same submission. */
export function signOf(
  { kind, status }: Pick<Entry, 'kind' | 'status'>,
  row: LedgerRow | undefined,
): -1 | 0 | 1 {
  const isLive = row !== undefined && !row.isDeleted;
  if (kind === 'held' || kind === 'undecided') return isLive ? -1 : 0;
  if (kind === 'rejected') return isLive ? 0 : 1;
  return kind === 'forgotten' && status !== '' ? 1 : 0;
}

/** Whether a submission is one that a query asks for. Without a date it is in no query with a bound. */
export function isIn(
  { status, createdAt }: Pick<LedgerRow, 'status' | 'createdAt'>,
  { status: wanted, fromMs = null, toMs = null }: CountQuery,
): boolean {
  if (wanted !== undefined && status !== wanted) return false;
  if (fromMs === null && toMs === null) return true;
  const ms = createdAt === null ? NaN : Date.parse(createdAt);
  return !Number.isNaN(ms) && (fromMs === null || ms >= fromMs) && (toMs === null || ms < toMs);
}

/** What is accounted for of a query, by status and time: live rows, and what entries add and take off. */
export function countsOf(
  rows: ReadonlyMap<string, LedgerRow>,
  entries: Entries,
  query: CountQuery,
  grain: Grain,
): Count[] {
  const counts = new Map<string, Count>();
  const add = (
    { status, createdAt }: Pick<LedgerRow, 'status' | 'createdAt'>,
    sign: number,
  ): void => {
    const ms = createdAt === null ? null : Date.parse(createdAt);
    const span = GRAIN_MS[grain];
    const fromMs = ms === null || grain === 'all' ? null : Math.floor(ms / span) * span;
    const key = `${status} ${fromMs}`;
    counts.set(key, { status, fromMs, count: (counts.get(key)?.count ?? 0) + sign });
  };
  for (const row of rows.values()) if (!row.isDeleted && isIn(row, query)) add(row, 1);
  for (const entry of entries.values()) {
    const row = rows.get(entry.id);
    const sign = signOf(entry, row);
    const of = sign < 0 && row !== undefined ? row : entry;
    if (sign !== 0 && isIn(of, query)) add(of, sign);
  }
  return [...counts.values()].filter(({ count }) => count !== 0);
}

/** Counted as the port says. */
export function tallyOf(rows: ReadonlyMap<string, LedgerRow>, entries: Entries): Tally {
  const [live, missing, unstored] = [new Map(), new Map(), new Map()] as Map<string, number>[];
  const add = (map: Map<string, number> | undefined, status: string): void =>
    void map?.set(status, (map.get(status) ?? 0) + 1);
  let deleted = 0;
  for (const { status, isDeleted } of rows.values())
    if (isDeleted) deleted++;
    else add(live, status);
  const kinds = { held: 0, undecided: 0, refused: 0, rejected: 0, forgotten: 0 };
  for (const entry of entries.values()) {
    kinds[entry.kind]++;
    const row = rows.get(entry.id);
    const sign = signOf(entry, row);
    if (sign < 0) add(missing, row?.status ?? '');
    if (sign > 0) add(unstored, entry.status);
  }
  const record = (map: Map<string, number> | undefined): Record<string, number> =>
    Object.fromEntries(map ?? []);
  return {
    ...EMPTY_TALLY,
    ...kinds,
    deleted,
    rows: record(live),
    missing: record(missing),
    unstored: record(unstored),
  };
}

/** Ended by a row that is stored, and those ended by a deletion or an erasure. */
const ENDED_BY_ROW: readonly EntryKind[] = ['held', 'undecided', 'rejected'];
const ENDED_BY_DELETION: readonly EntryKind[] = ['rejected', 'held', 'undecided', 'refused'];

/**
 * Entries after a change. `stored`: IDs of the rows that it stores; `digestOf`: the name of a forgotten submission. A row or an
 * entry of a forgotten submission makes its entry follow instead.
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

/** Notes in `entries` that a submission was forgotten. `row`: its own; `digest`: its name from now on. */
export function forgetIn(
  entries: Map<string, Entry>,
  id: string,
  row: LedgerRow | undefined,
  { digest, atMs }: { readonly digest: string; readonly atMs: number },
): void {
  const listed = entries.get(entryKey({ kind: 'rejected', id }));
  const { status, createdAt } = (row?.isDeleted === false ? row : listed) ?? {
    status: '',
    createdAt: null,
  };
  for (const kind of ENDED_BY_DELETION) entries.delete(entryKey({ kind, id }));
  const entry: Entry = { kind: 'forgotten', id: digest, status, createdAt, reason: '', atMs };
  if (!entries.has(entryKey(entry))) entries.set(entryKey(entry), entry);
}
