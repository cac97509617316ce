import type { ProofLedger } from '../mirror/proof.ts';
import { NO_COUNTS } from '../mirror/status-counts.ts';
import type { Checkpoint } from '../mirror/types.ts';
import type { DeletionResult } from './deletions.ts';
import type { IncrementalProof } from './incremental-scan.ts';
import { NOTHING, outcomeOf, type PassResult } from './pass-result.ts';

/** What the checkpoint of a proven pass is made of. */
export interface Proven {
  readonly ledger: ProofLedger;
  /** The present time (ISO). */
  readonly at: string;
  readonly provenFor: string;
}

/** Nothing is accounted for by status. */
const UNCOUNTED = { statuses: null, unstored: NO_COUNTS, countsAt: null } as const;

/** The end of a proven full pass. */
export function fullResult(
  { ledger, at, provenFor }: Proven,
  before: Checkpoint | undefined,
  found: DeletionResult,
): PassResult {
  // Absent rows that were withheld were not asked for: what was known of them still is, and nothing is proven by such a list.
  const hidden = Math.min(before?.hidden ?? 0, found.withheld);
  const stands = hidden === 0 || before === undefined;
  const checkpoint: Checkpoint = {
    watermark: ledger.watermark(before?.watermark ?? null),
    total: ledger.accounted,
    absent: 0,
    withheld: found.withheld,
    hidden,
    provenAt: stands ? at : before.provenAt,
    fullProvenAt: stands ? at : before.fullProvenAt,
    provenFor,
    ...UNCOUNTED,
  };
  const outcome = outcomeOf(checkpoint);
  return { ...found, outcome, checkpoint, unlisted: hidden, failure: null };
}

/** The end of a proven incremental pass. */
export function incrementalResult(
  { ledger, at, provenFor }: Proven,
  before: Checkpoint,
  { total, gone }: IncrementalProof,
): PassResult {
  const checkpoint: Checkpoint = {
    ...before,
    watermark: ledger.watermark(before.watermark),
    total,
    absent: before.absent + gone,
    // Nothing is proven by a list that hides submissions.
    provenAt: before.hidden > 0 ? before.provenAt : at,
    provenFor,
    ...UNCOUNTED,
  };
  const { withheld, hidden } = before;
  return { ...NOTHING, outcome: outcomeOf(checkpoint), checkpoint, withheld, unlisted: hidden };
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
  return { ...result, checkpoint: { ...before, total, absent: 0, hidden, ...UNCOUNTED } };
}
