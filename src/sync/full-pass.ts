import type { Checkpoint } from '../mirror/types.ts';
import { markAbsent } from './deletions.ts';
import { fullScan, type ScanParts } from './full-scan.ts';
import { hashDeletedRows, type HashParts, hashUnmetRows } from './hash-unseen-rows.ts';
import { countedInFull, fullResult, hiddenResult } from './pass-checkpoint.ts';
import { NOTHING, type PassResult } from './pass-result.ts';
import type { OpenForm, PassRun } from './pass-run.ts';

/**
 * Reads a form whole, and settles which rows are absent from it. `isRead`: that has been done, and proven, through these
 * `parts`.
 */
export async function fullPass(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  { checkpoint, isRead = false }: { checkpoint: Checkpoint | undefined; isRead?: boolean },
): Promise<PassResult> {
  const { writer, sink } = open;
  const { ledger } = parts;
  await hashDeletedRows(hashParts(run, open));
  const proven = isRead || (await fullScan(parts));
  await sink.flush();
  await hashUnmetRows(hashParts(run, open), (id) => ledger.has(id));
  run.notices = await writer.notices();
  if (!proven) return { ...NOTHING, outcome: 'incomplete' };
  const { stands, ...found } = await settleAbsent(run, open, parts);
  if (!stands) return hiddenResult(ledger, checkpoint, found);
  const startedAt = new Date(run.startedMs).toISOString();
  const counted = await countedInFull(writer, ledger, sink.unstored, startedAt);
  return fullResult(run.proven(), checkpoint, found, counted);
}

function hashParts({ setup }: PassRun, { writer, sink }: OpenForm): HashParts {
  const { batchRows } = setup.target;
  return { writer, fields: sink.fields, hashKey: setup.request.hashKey, batchRows };
}

function settleAbsent(
  run: PassRun,
  { form, writer, sink }: OpenForm,
  parts: ScanParts,
): ReturnType<typeof markAbsent> {
  const { call, setup } = run;
  const { context, request, signal } = setup;
  return markAbsent({
    formId: form.id,
    client: context.client,
    writer,
    ledger: parts.ledger,
    readAgain: () => fullScan(parts),
    call,
    signal,
    maxDeleteFraction: context.maxDeleteFraction,
    acceptDeletes: request.acceptDeletes ?? false,
    at: run.now(),
    onFound: (items) => sink.store(items),
    onUndecided: (listings) => sink.list(listings),
  });
}
