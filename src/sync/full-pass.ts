import type { AskedPage } from '../forms/form-pages.ts';
import { laterOf } from '../mirror/canonical-time.ts';
import { NO_COUNTS, totalOf } from '../mirror/status-counts.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { countsLive, type DeletionParts, markAbsent } from './deletions.ts';
import { fullScan, type ScanParts } from './full-scan.ts';
import { hashDeletedRows, type HashParts, hashUnmetRows } from './hash-unseen-rows.ts';
import { oldestPlausible } from './incremental-scan.ts';
import { timesOf } from './page-items.ts';
import {
  countedAs,
  countedInFull,
  fullResult,
  hiddenResult,
  notCounted,
} from './pass-checkpoint.ts';
import { NOTHING, type PassResult } from './pass-result.ts';
import type { OpenForm, PassRun } from './pass-run.ts';
import type { FormSize } from './window-plan.ts';
import { type WindowedEnd, windowedPass } from './windowed-pass.ts';

/**
 * Reads all of a form, window by window where it is large, and settles which rows are absent from it. `isRead`: that has been
 * done, and proven, through these `parts`.
 */
export async function fullPass(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  { checkpoint, isRead = false }: { checkpoint: Checkpoint | undefined; isRead?: boolean },
): Promise<PassResult> {
  await hashDeletedRows(hashParts(run, open));
  const hasEdited = (await open.writer.distrustEdited?.('all')) === true;
  // What was read before that was compared with what the target remembers.
  if (isRead && !hasEdited) return wholePass(run, open, parts, { checkpoint, proven: true });
  // What a comparison has asked for by its ID is stored, but no list has shown it.
  const listedAfter = parts.ledger.round;
  const first: AskedPage = { ...(await parts.pages.read({ page: 1 })), asked: 1 };
  await run.setup.context.ownLists?.require(open.form, run.call, first);
  const windowed = await windowedPass(run, open, checkpoint, sizeOf(first));
  if (windowed === null) {
    const proven = await fullScan({ ...parts, first });
    return wholePass(run, open, parts, { checkpoint, proven, listedAfter });
  }
  if (windowed.outcome !== 'uncut') return windowedResult(run, open, checkpoint, windowed);
  run.beginLedger(oldestPlausible(checkpoint));
  const whole = run.scanParts(open, checkpoint !== undefined);
  const proven = await fullScan(whole);
  const result = await wholePass(run, open, whole, { checkpoint, proven });
  return { ...result, deleted: result.deleted + windowed.found.deleted };
}

const sizeOf = (first: AskedPage): FormSize => ({
  total: first.total,
  newest: timesOf(first).reduce(laterOf, null),
});

/** What is known at the end of a pass that has read the form as one list. */
interface WholeEnd extends Pick<DeletionParts, 'listedAfter'> {
  readonly checkpoint: Checkpoint | undefined;
  readonly proven: boolean;
}

/** The end of such a pass. */
async function wholePass(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  { checkpoint, proven, listedAfter }: WholeEnd,
): Promise<PassResult> {
  const { writer, sink } = open;
  const { ledger } = parts;
  await sink.flush();
  await hashUnmetRows(hashParts(run, open), (id) => ledger.has(id));
  run.notices = await writer.notices();
  if (!proven) return { ...NOTHING, outcome: 'incomplete' };
  const { stands, ...found } = await settleAbsent(run, open, parts, listedAfter);
  if (!stands) return hiddenResult(ledger, checkpoint, found);
  const counted = await countedInFull(writer, ledger, sink.unstored, run.since);
  return fullResult(run.proven(), checkpoint, found, counted);
}

/** The end of a pass that has read the form in windows. */
async function windowedResult(
  run: PassRun,
  { writer }: OpenForm,
  checkpoint: Checkpoint | undefined,
  { outcome, found, total, since, unstored, watermark }: WindowedEnd,
): Promise<PassResult> {
  run.notices = await writer.notices();
  const { deleted, undecided } = found;
  if (outcome !== 'proven') return { ...NOTHING, outcome: 'incomplete', deleted, undecided };
  const counted = await countedAs(writer, unstored ?? NO_COUNTS, since);
  const met = counted.statuses === null ? -1 : totalOf(counted.statuses);
  // Double entries that the source counts have no row either, and no window knows of them. More than there are: some were deleted
  // after a window had met them.
  const isCounted = met === total || (met > total && unstored !== null);
  const ledger = { accounted: total, watermark: () => watermark, isAsListed: false };
  const settled = { ...found, unlisted: 0, hidden: 0 };
  const known = isCounted ? counted : notCounted(checkpoint);
  const result = fullResult({ ...run.proven(), ledger }, checkpoint, settled, known);
  const proven = result.checkpoint;
  if (proven === undefined || result.outcome === 'incomplete') return result;
  return {
    ...result,
    checkpoint: { ...proven, fullProvenAt: since },
    comparedSince: since,
  };
}

function hashParts({ setup }: PassRun, { writer, sink }: OpenForm): HashParts {
  const { batchRows } = setup.target;
  return { writer, fields: sink.fields, hashKey: setup.request.hashKey, batchRows };
}

function settleAbsent(
  run: PassRun,
  { form, writer, sink }: OpenForm,
  parts: ScanParts,
  listedAfter: number | undefined,
): ReturnType<typeof markAbsent> {
  const { call, setup } = run;
  const { context, request, signal } = setup;
  return markAbsent({
    formId: form.id,
    client: context.client,
    writer,
    ledger: parts.ledger,
    listedAfter,
    countLive: countsLive(setup) ? async () => totalOf(await writer.statusCounts()) : undefined,
    readAgain: () => fullScan(parts),
    beforeMarking: () => run.refusePaused(),
    call,
    signal,
    maxDeleteFraction: context.maxDeleteFraction,
    acceptDeletes: request.acceptDeletes ?? false,
    at: run.now(),
    onFound: (items) => sink.store(items),
    onUndecided: (listings) => sink.list(listings),
    unstored: sink.unstored,
  });
}
