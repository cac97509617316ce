import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/v4.js';
import {
  createMetadata,
  deleteMetadata,
  METADATA_KEYS,
  type MetadataEntry,
} from './api/metadata.ts';

/**
 * The commit log: how writers on several machines share a spreadsheet that offers neither locks nor conditional writes.
 *
 * Every write of ours is one atomic batchUpdate whose first request creates a piece of metadata with a given ID: the
 * number of the last write that the writer knows of, plus one. Google refuses an ID that exists and with it the whole
 * batch. So of two writers that build on the same state only one gets through; the other one reads what was written (fencing), and a
 * request that was delayed on the way can never be applied after its own repetition (commit token): after a timeout or a
 * 503 the log shows whether the write was applied.
 *
 * Entries are removed when no request built on them can still be under way.
 */
export interface CommitEntry {
  /** Counts up by one with every write. */
  readonly number: number;
  readonly metadataId: number;
  /** Names this one write. */
  readonly nonce: string;
  readonly atMs: number;
}

/** The contents of a commit log, oldest first. `usedIds`: IDs of all metadata that we know. */
export interface CommitLog {
  readonly entries: readonly CommitEntry[];
  readonly usedIds: ReadonlySet<number>;
}

/** Metadata IDs are positive 32-bit numbers; Google draws its own at random from all of them. */
const FIRST_ID = 1_100_000_000;
/** No request lives this long: Google gives up after 3 minutes, we wait at most 2. */
const KEEP_MS = 15 * 60_000;
/** At one write a second that is still more than 6 minutes. Bounds the characters of metadata in use. */
const KEEP_ENTRIES = 400;
/** Removing old entries must not make a write large. */
const MAX_REMOVED_AT_ONCE = 50;

/** How long a log read from the sheet may be built on: less than {@link KEEP_MS} by far. */
export const COMMIT_LOG_FRESH_MS = 120_000;

/** The log as the spreadsheet's own metadata shows it. `otherIds`: IDs of metadata elsewhere in it. */
export function readCommitLog(
  metadata: readonly MetadataEntry[],
  otherIds: readonly number[] = [],
): CommitLog {
  const entries = metadata.flatMap((entry) => {
    const number = entry.id - FIRST_ID;
    const [nonce = '', at] = entry.value.split('.');
    if (entry.key !== METADATA_KEYS.commit || number < 1 || at === undefined) return [];
    return [{ number, metadataId: entry.id, nonce, atMs: Number.parseInt(at, 36) || 0 }];
  });
  return {
    entries: entries.sort((a, b) => a.number - b.number),
    usedIds: new Set([...metadata.map((entry) => entry.id), ...otherIds]),
  };
}

/** The number of the newest write; 0 before the first. */
export const headOf = (log: CommitLog): number => log.entries.at(-1)?.number ?? 0;

/** The next write: its requests, to go first in the batch, and the log as it will be. */
export function nextCommit(
  log: CommitLog,
  note: Pick<CommitEntry, 'nonce' | 'atMs'>,
): { requests: sheets_v4.Schema$Request[]; log: CommitLog; entry: CommitEntry } {
  let number = headOf(log) + 1;
  while (log.usedIds.has(FIRST_ID + number)) number++;
  const entry: CommitEntry = { ...note, number, metadataId: FIRST_ID + number };
  const stale = log.entries
    .filter((old, index) => isStale(old, log.entries.length - index, note.atMs))
    .slice(0, MAX_REMOVED_AT_ONCE);
  const gone = new Set(stale.map((old) => old.metadataId));
  return {
    entry,
    requests: [
      createMetadata({ spreadsheet: true }, METADATA_KEYS.commit, valueOf(entry), entry.metadataId),
      ...stale.map((old) => deleteMetadata(old.metadataId)),
    ],
    log: {
      entries: [...log.entries.filter((old) => !gone.has(old.metadataId)), entry],
      usedIds: new Set([...log.usedIds, entry.metadataId]).difference(gone),
    },
  };
}

/** `place` counts from the newest, which is 1 and never stale. */
const isStale = (entry: CommitEntry, place: number, nowMs: number): boolean =>
  place > KEEP_ENTRIES || (place > 1 && nowMs - entry.atMs > KEEP_MS);

const valueOf = ({ nonce, atMs }: Pick<CommitEntry, 'nonce' | 'atMs'>): string =>
  [nonce, atMs.toString(36)].join('.');
