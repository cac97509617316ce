import type { FormWriter } from '../mirror/target.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { fullPass } from './full-pass.ts';
import type { ScanParts } from './full-scan.ts';
import { type IncrementalProof, incrementalScan } from './incremental-scan.ts';
import { deletionsReason, hiddenReason, mayReadInFull } from './known-deletions.ts';
import { incrementalResult } from './pass-checkpoint.ts';
import { NOTHING, type PassResult } from './pass-result.ts';
import type { OpenForm, PassRun } from './pass-run.ts';

/** Looks for what is new since the checkpoint. Becomes a full pass where the counts tell of deletions. */
export async function incrementalPass(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  checkpoint: Checkpoint,
): Promise<PassResult> {
  const { writer, sink } = open;
  const proof = await incrementalScan(parts, checkpoint);
  if (proof !== null) await followDeletions(run, proof, checkpoint, writer);
  if (run.kind === 'full') {
    return fullPass(run, open, parts, { checkpoint, isRead: proof?.whole === true });
  }
  await sink.flush();
  run.notices = await writer.notices();
  if (proof === null) return { ...NOTHING, outcome: 'incomplete' };
  return incrementalResult(run.proven(), checkpoint, proof);
}

/**
 * Counts tell that submissions were deleted, not which. An incremental pass that knows of some becomes a full one, if it
 * has read everything anyway or may do so now; otherwise they are remembered for the next full pass.
 */
async function followDeletions(
  run: PassRun,
  { whole, gone, pages }: IncrementalProof,
  before: Checkpoint,
  writer: FormWriter,
): Promise<void> {
  // What the brake withheld is a person's to decide: it is no reason to look again until the list changes.
  if (before.absent === 0 && before.hidden === 0 && gone === 0) return;
  const now = run.setup.context.clock.now();
  if (!whole && !(await mayReadInFull(writer, before, pages, now))) return;
  const known = before.absent + gone;
  run.widen(known > 0 ? deletionsReason(known) : hiddenReason(before));
}
