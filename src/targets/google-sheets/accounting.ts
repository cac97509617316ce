import { isIn, signOf } from '../../mirror/accounting.ts';
import type { Tally } from '../../mirror/form-state.ts';
import {
  type Change,
  type Count,
  type CountQuery,
  type Entry,
  type EntryKind,
  type Grain,
  GRAIN_MS,
  type StoredRow,
} from '../../mirror/port.ts';

/* Computes what a form accounts for, and its entries after a change, from rows and entries in memory. */

/** The part of a row that is counted. */
export type CountedRow = Omit<StoredRow, 'cells'>;

/** By {@link entryKey}. */
export type Entries = ReadonlyMap<string, Entry>;

/** The key of an entry among a form's entries: its kind and ID. */
export const entryKey = ({ kind, id }: Pick<Entry, 'kind' | 'id'>): string => `${kind} ${id}`;

/** What a query's submissions amount to, by status and time: live rows, plus and minus what entries add and subtract. */
export function countsOf(
  rows: ReadonlyMap<string, CountedRow>,
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

/** The tally of a form: its live rows by status, its deleted rows, and its entries by kind. */
export function tallyOf(rows: ReadonlyMap<string, CountedRow>, entries: Entries): Tally {
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
  row: CountedRow | undefined,
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
