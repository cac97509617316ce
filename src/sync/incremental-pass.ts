import { SourceCounts } from '../forms/submission-counts.ts';
import { plusCounts, type StatusCounts, totalOf } from '../mirror/status-counts.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { compareCounts, type Comparison, comparisonBudget } from './compare-counts.ts';
import { COMPARISON_SIZES, type ComparisonSizes } from './comparison-sizes.ts';
import { fullPass } from './full-pass.ts';
import type { ScanParts } from './full-scan.ts';
import { type IncrementalProof, incrementalScan, readNewest } from './incremental-scan.ts';
import {
  countsReason,
  deletionsReason,
  hiddenReason,
  mayReadInFull,
  shortReason,
  unknownReason,
} from './known-deletions.ts';
import {
  type Counted,
  countedAs,
  countedInFull,
  incrementalResult,
  notCounted,
} from './pass-checkpoint.ts';
import { NOTHING, type PassResult } from './pass-result.ts';
import type { OpenForm, PassRun } from './pass-run.ts';
import { windowSizesOf } from './window-plan.ts';

/** The clock of the source may be behind ours. */
const CLOCKS_MS = 60 * 60_000;

const earlier = (at: string | null): string | null =>
  at === null ? null : new Date(Date.parse(at) - CLOCKS_MS).toISOString();

/** Submissions on a page. */
const PAGE = 100;

/** How often the counts are read again after something was settled. */
const ROUNDS = 5;

const sizesOf = ({ setup }: PassRun): ComparisonSizes =>
  setup.context.comparisonSizes ?? COMPARISON_SIZES;

/** What a pass knows when it has found its newcomers. */
interface Found {
  readonly proof: IncrementalProof;
  readonly before: Checkpoint;
  /** As in {@link earlyCounts}. */
  readonly statuses: readonly number[] | null | undefined;
}

/**
 * Looks for what is new since the checkpoint, and compares the counts by status where that is asked for, where the counts tell
 * of deletions, or where it is not known what is accounted for. Becomes a full pass where only that can settle it.
 */
export async function incrementalPass(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  before: Checkpoint,
): Promise<PassResult> {
  const { writer, sink } = open;
  const statuses = await earlyCounts(run, open, before);
  const long = { longerThan: sizesOf(run).shortPages, most: windowSizesOf(run).most };
  const proof = await incrementalScan(parts, before, long);
  await sink.flush();
  if (proof === 'large') {
    run.widen(null);
    return fullPass(run, open, parts, { checkpoint: before });
  }
  const end = proof && (await followUp(run, open, parts, { proof, before, statuses }));
  if (run.kind === 'full') {
    return fullPass(run, open, parts, { checkpoint: before, isRead: proof?.whole === true });
  }
  run.notices = await writer.notices();
  return end ?? { ...NOTHING, outcome: 'incomplete' };
}

/** The end of the pass; null where it becomes a full one. */
async function followUp(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  found: Found,
): Promise<PassResult | null> {
  const { proof, before } = found;
  const isToBeCompared = isToCompare(run, before, proof.gone);
  // What is missing can only be found by counts, or by reading everything.
  if (proof.isShort && !isToBeCompared) {
    run.widen(null);
    return null;
  }
  if (proof.whole || !isToBeCompared) {
    await followDeletions(run, open, found);
    return run.kind === 'full' ? null : plainResult(run, open, found);
  }
  const isAccountable = await isAllKnown(open, found);
  // Reading everything does not tell with which status the source counts what shows none.
  const isBlank = (await open.writer.statusCounts()).has('');
  const hasFewPages = proof.pages <= sizesOf(run).shortPages && !isBlank;
  if ((hasFewPages || !isAccountable) && (await mayBeRead(run, open, before, proof.pages))) {
    run.widen(reasonFor(found, isAccountable ? shortReason : unknownReason));
    return null;
  }
  if (!isAccountable && proof.isShort) {
    run.widen(null);
    return null;
  }
  const startedAt = run.now();
  const live = totalOf(await open.writer.statusCounts());
  const known = totalOf(unstoredBefore(open, found.before));
  const comparison = await compare(run, open, parts, found);
  const { obstacle, unstored, deleted, undecided } = comparison;
  if (proof.isShort && obstacle !== null) {
    run.widen(null);
    return null;
  }
  // Where statuses can't be counted, only deletions that the total shows are worth reading everything.
  const isUncounted = obstacle === 'counts' && before.absent + proof.gone !== 0;
  const needsAll = obstacle === 'bounds' || obstacle === 'brake' || isUncounted;
  if (needsAll && (await mayBeRead(run, open, before, proof.pages))) {
    run.widen(reasonFor(found, countsReason));
    return null;
  }
  // What has no row may look like what is absent. What was met of it on the way is known to the next pass.
  const isSettled = obstacle === null && isAccountable;
  const countsAt = isSettled ? startedAt : before.countsAt;
  const counted = await countedAs(open.writer, unstored, countsAt);
  const isUnknown = needsAll || obstacle === 'counts' || !isAccountable;
  const liveNow = totalOf(await open.writer.statusCounts());
  return incrementalResult(run.proven(), before, {
    proof,
    deleted,
    undecided,
    // What was missing may have no row.
    found: liveNow - live + deleted + (proof.isShort ? totalOf(unstored) - known : 0),
    isSettled,
    counted: isUnknown ? notCounted({ unstored, countsAt }) : counted,
  });
}

/** What has no row, as far as it is known before counts are compared. */
const unstoredBefore = ({ sink }: OpenForm, before: Checkpoint): StatusCounts =>
  plusCounts(before.unstored, sink.unstored.newcomers);

/** What the brake withheld, or the list hides, is no part of what the source counts: then a full pass has the word. */
function isToCompare(run: PassRun, before: Checkpoint, gone: number): boolean {
  if (before.withheld + before.hidden > 0) return false;
  const isAsked = run.setup.request.compareCounts === true;
  return isAsked || before.absent + gone !== 0 || before.statuses === null;
}

/**
 * The counts by status, where they are sure to be compared: asked for before the newest are read, so that these show every newcomer
 * that the counts have. Of a short form all is read instead.
 */
async function earlyCounts(
  run: PassRun,
  open: OpenForm,
  before: Checkpoint,
): Promise<readonly number[] | null | undefined> {
  if (!isToCompare(run, before, 0) || before.total <= PAGE) return undefined;
  const pages = Math.ceil(before.total / PAGE);
  if (pages <= sizesOf(run).shortPages && (await mayBeRead(run, open, before, pages))) {
    return undefined;
  }
  return new SourceCounts(run.setup.context.client, run.call).ofStatuses({ formId: open.form.id });
}

/**
 * Whether what has no row is known: always where statuses are; otherwise where that and what is held are no fewer than the
 * source has, with what is absent here. A deletion beside something without a row, of which nothing is known, would look like
 * agreement. More are held where a pass stored newcomers and died, and something else is gone since.
 */
async function isAllKnown({ writer, sink }: OpenForm, { proof, before }: Found): Promise<boolean> {
  if (before.statuses !== null) return true;
  const unstored = totalOf(before.unstored) + totalOf(sink.unstored.newcomers);
  const held = totalOf(await writer.statusCounts()) + unstored;
  return held >= proof.total + before.absent + proof.gone;
}

/** Without a comparison: nothing of what an earlier pass accounted for is looked at. */
async function plainResult(
  run: PassRun,
  { writer, sink }: OpenForm,
  { proof, before }: Found,
): Promise<PassResult> {
  const counted = async (): Promise<Counted> => {
    if (proof.whole && run.ledger.isAsListed)
      return countedInFull(writer, run.ledger, sink.unstored, run.since);
    if (proof.whole)
      return countedAs(writer, plusCounts(sink.unstored.all, uncountedRows(before)), run.since);
    const unstored = plusCounts(before.unstored, sink.unstored.newcomers);
    if (before.statuses === null) return notCounted({ ...before, unstored });
    return countedAs(writer, unstored, before.countsAt);
  };
  const nothing = { deleted: 0, undecided: 0, found: 0, isSettled: false };
  const end = { ...nothing, proof, counted: await counted() };
  return incrementalResult(run.proven(), before, end);
}

async function compare(
  run: PassRun,
  open: OpenForm,
  parts: ScanParts,
  { proof, before, statuses }: Found,
): Promise<Comparison> {
  const { pages, ledger } = parts;
  const { form, writer, sink } = open;
  const { call, setup } = run;
  const { context, request, signal, target } = setup;
  // What is read now is newer than what any sweep showed.
  ledger.endSweep();
  const bounds = unusableBounds(context.client);
  const comparison = await compareCounts({
    formId: form.id,
    client: context.client,
    pages,
    writer,
    sink,
    call,
    signal,
    batchRows: target.batchRows,
    at: run.now(),
    total: run.total ?? proof.total,
    statuses,
    leafSize: sizesOf(run).leaf,
    unstored: unstoredBefore(open, before),
    maxDeleteFraction: context.maxDeleteFraction,
    acceptDeletes: request.acceptDeletes ?? false,
    changedSince: earlier(before.countsAt),
    maxRequests: comparisonBudget(proof.pages),
    maxRounds: request.dryRun === true ? 1 : ROUNDS,
    mayNarrow: !bounds.has(form.id, context.clock.now()),
    isStill: async (total) => {
      const newcomers = ledger.newcomersInPass;
      const isRead = await readNewest(parts, before);
      return isRead && ledger.baseTotal === total && ledger.newcomersInPass === newcomers;
    },
  });
  if (comparison.isBoundless) bounds.note(form.id, context.clock.now());
  return comparison;
}

/**
 * Counts tell that submissions were deleted, not which. An incremental pass that knows of some and compares nothing becomes
 * a full one, if it has read everything anyway or may do so now; otherwise they are remembered for the next full pass.
 */
async function followDeletions(run: PassRun, open: OpenForm, found: Found): Promise<void> {
  const { proof, before } = found;
  const isKnown = before.absent !== 0 || before.hidden !== 0 || proof.gone !== 0;
  // What the brake withheld is a person's to decide: it is a reason to look again only when more is gone.
  if (!isKnown && !(await hasUnseen(run, open, found))) return;
  if (!proof.whole && !(await mayBeRead(run, open, before, proof.pages))) return;
  const known = before.absent + proof.gone;
  run.widen(known > 0 ? deletionsReason(known) : hiddenReason(before));
}

/** Whether a pass that has read the whole list holds another number of submissions than that shows, and the brake withheld. */
async function hasUnseen(
  run: PassRun,
  { writer, sink }: OpenForm,
  { proof, before }: Found,
): Promise<boolean> {
  if (!proof.whole || run.ledger.isAsListed) return false;
  const held = totalOf(await writer.statusCounts()) + totalOf(sink.unstored.all);
  return held - before.withheld + totalOf(uncountedRows(before)) !== proof.total;
}

/** Live rows that the source does not count: an earlier pass asked for them by ID, and could not mark them. */
const uncountedRows = ({ unstored }: Checkpoint): StatusCounts =>
  new Map([...unstored].filter(([, count]) => count < 0));

const mayBeRead = (
  run: PassRun,
  { writer }: OpenForm,
  before: Checkpoint,
  pages: number,
): Promise<boolean> => mayReadInFull(writer, before, pages, run.setup.context.clock.now());

function reasonFor({ proof, before }: Found, otherwise: string): string {
  const known = before.absent + proof.gone;
  return known > 0 ? deletionsReason(known) : otherwise;
}

/** How long bounds that were of no use are not tried again: the service may mend them, and a form its dates. */
const BOUNDS_REST_MS = 60 * 60_000;

/** Of which forms a source's `dateFrom` and `dateTo` were of no use lately. Forgotten with the process: it only saves requests. */
class UnusableBounds {
  readonly #since = new Map<string, number>();

  has(formId: string, nowMs: number): boolean {
    return nowMs - (this.#since.get(formId) ?? -Infinity) < BOUNDS_REST_MS;
  }

  note(formId: string, nowMs: number): void {
    if (!this.has(formId, nowMs)) this.#since.set(formId, nowMs);
  }
}

const bySource = new WeakMap<object, UnusableBounds>();

/** Those of the source that this client speaks to. */
function unusableBounds(client: object): UnusableBounds {
  const known = bySource.get(client) ?? new UnusableBounds();
  bySource.set(client, known);
  return known;
}
