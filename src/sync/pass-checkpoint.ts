import type { ProofLedger } from '../mirror/proof.ts';
import { NO_COUNTS, plusCounts, type StatusCounts, totalOf } from '../mirror/status-counts.ts';
import type { FormReader } from '../mirror/target.ts';
import type { Checkpoint } from '../mirror/types.ts';
import type { DeletionResult } from './deletions.ts';
import type { IncrementalProof } from './incremental-scan.ts';
import { NOTHING, outcomeOf, type PassResult } from './pass-result.ts';
import type { UnstoredCounts } from './unstored-counts.ts';

/** What the checkpoint of a proven pass is made of. */
export interface Proven {
  readonly ledger: Pick<ProofLedger, 'accounted' | 'watermark' | 'isAsListed'>;
  /** When it began to read (ISO): what came later need not be here. */
  readonly since: string;
  readonly provenFor: string;
}

/** What a checkpoint says of the counts by status. */
export type Counted = Pick<Checkpoint, 'statuses' | 'unstored' | 'countsAt'>;

/** It is not known what the source counts by status. What is known to have no row, and that the counts agreed earlier, stands. */
export const notCounted = (
  before: Pick<Checkpoint, 'unstored' | 'countsAt'> | undefined,
): Counted => ({
  statuses: null,
  unstored: before?.unstored ?? NO_COUNTS,
  countsAt: before?.countsAt ?? null,
});

/**
 * What is accounted for by status: what is held, which is never what the source says at the end of a pass, and what has no
 * row. So what changes while a pass ends is a difference that the next look finds. `countsAt`: as in the checkpoint.
 */
export async function countedAs(
  reader: Pick<FormReader, 'statusCounts'>,
  unstored: StatusCounts,
  countsAt: string | null,
): Promise<Counted> {
  return { statuses: plusCounts(await reader.statusCounts(), unstored), unstored, countsAt };
}

/**
 * The same after a proven full pass that began to read at `since`, which has compared everything. Where the source counts the
 * entries of its list, those that repeat a submission have no row either.
 */
export async function countedInFull(
  reader: Pick<FormReader, 'statusCounts'>,
  ledger: ProofLedger,
  met: UnstoredCounts,
  since: string,
): Promise<Counted> {
  const unstored = ledger.isAsListed ? met.beyond(await reader.statusCounts()) : met.all;
  return countedAs(reader, unstored, since);
}

/** The end of a proven full pass. */
export function fullResult(
  { ledger, since, provenFor }: Proven,
  before: Checkpoint | undefined,
  found: DeletionResult,
  counted: Counted,
): PassResult {
  // Absent rows that were withheld were not asked for: what was known of them still is, and nothing is proven by such a list.
  const hidden = Math.min(before?.hidden ?? 0, found.withheld);
  const stands = hidden === 0 || before === undefined;
  // Deleted after the pass had met it: the round that proved it no longer counts it.
  const isWhole = found.withheld + hidden === 0 && counted.statuses !== null && !ledger.isAsListed;
  const absent = isWhole ? Math.max(0, totalOf(counted.statuses) - ledger.accounted) : 0;
  const uncounted = notCounted({ unstored: counted.unstored, countsAt: before?.countsAt ?? null });
  const checkpoint: Checkpoint = {
    watermark: ledger.watermark(before?.watermark ?? null),
    total: ledger.accounted,
    absent,
    withheld: found.withheld,
    hidden,
    provenAt: stands ? since : before.provenAt,
    fullProvenAt: stands ? since : before.fullProvenAt,
    provenFor,
    // What is not marked deleted, though the list does not show it, is no part of what the source counts.
    ...(found.withheld + hidden > 0 ? uncounted : counted),
    ...(absent > 0 && { statuses: null }),
  };
  const outcome = outcomeOf(checkpoint);
  return { ...found, outcome, checkpoint, unlisted: hidden, failure: null };
}

/** What a proven incremental pass has found. */
export interface IncrementalEnd {
  readonly proof: IncrementalProof;
  /** Rows that its comparison by counts marked deleted, of which that got no answer, and those that it made or restored. */
  readonly deleted: number;
  readonly undecided: number;
  readonly found: number;
  /** The comparison has shown that nothing is absent. */
  readonly isSettled: boolean;
  readonly counted: Counted;
}

/** The end of a proven incremental pass. */
export function incrementalResult(
  { ledger, since, provenFor }: Proven,
  before: Checkpoint,
  { proof, deleted, undecided, found, isSettled, counted }: IncrementalEnd,
): PassResult {
  const known = before.absent + proof.gone;
  const absent = isSettled ? 0 : Math.max(Math.min(known, 0), known - deleted);
  const { withheld, hidden } = before;
  // What the next pass counts from: what the source was seen to count, or what is held and not absent.
  const uncounted = notCounted({ unstored: counted.unstored, countsAt: before.countsAt });
  const isCounted = isSettled && counted.statuses !== null;
  const total = isCounted
    ? totalOf(counted.statuses)
    : proof.total + known + found - deleted - absent;
  const checkpoint: Checkpoint = {
    ...before,
    watermark: ledger.watermark(before.watermark),
    total,
    absent,
    // Nothing is proven by a list that hides submissions.
    provenAt: hidden > 0 ? before.provenAt : since,
    provenFor,
    ...(withheld + hidden + absent === 0 ? counted : uncounted),
  };
  const outcome = outcomeOf(checkpoint);
  return { ...NOTHING, outcome, checkpoint, withheld, unlisted: hidden, deleted, undecided };
}

/**
 * The end of a full pass whose list hides submissions that it has found by ID. What an earlier pass has proven stands, but
 * that the list hides them is remembered until a full pass is proven: what its count says of them is no deletion.
 */
export function hiddenResult(
  ledger: ProofLedger,
  before: Checkpoint | undefined,
  { isProven, ...found }: DeletionResult & { readonly isProven: boolean },
): PassResult {
  const result: PassResult = { ...found, outcome: 'incomplete', failure: null };
  // Without a checkpoint the next pass reads everything anyway.
  if (before === undefined || found.hidden === 0) return result;
  const { hidden } = found;
  const total = isProven ? ledger.accounted : Math.max(0, before.total - hidden - found.deleted);
  const checkpoint = { ...before, total, absent: 0, hidden, ...notCounted(before) };
  return { ...result, checkpoint };
}
