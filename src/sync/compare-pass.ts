import {
  countsFrom,
  minusCounts,
  plusCounts,
  type StatusCounts,
  totalOf,
} from '../mirror/status-counts.ts';
import type { Checkpoint } from '../mirror/types.ts';
import { oldestProof, unstoredIn, type WindowRecord } from '../mirror/window.ts';
import { mostDeletions } from './deletions.ts';
import { addFound, type FoundRows } from './open-windows.ts';
import { type Counted, countedAs, notCounted } from './pass-checkpoint.ts';
import { NOTHING, outcomeOf, type PassResult } from './pass-result.ts';
import type { OpenForm, PassRun } from './pass-run.ts';
import { leaveUncut } from './window-plan.ts';
import { proveWindow, type WindowOutcome, type WindowWork } from './window-proof.ts';

/** What a comparison has come across. */
interface Comparison {
  readonly found: FoundRows;
  /** Submissions that were neither stored nor listed before. */
  newcomers: number;
  /** By how many more rows the brake is known to withhold. */
  withheld: number;
  /** By status, what has no row, by what was known before and what these windows show now. */
  unstored: StatusCounts;
  /** False when a window was not proven. */
  isProven: boolean;
}

/**
 * Compares the windows that it was asked for row by row. What it says of how many submissions are accounted for follows from
 * what it has found; of what is new elsewhere it says nothing. A window that proves nothing makes the form one that is read
 * whole.
 */
export async function comparePass(
  run: PassRun,
  open: OpenForm,
  before: Checkpoint,
): Promise<PassResult> {
  const { writer } = open;
  const wanted = (await writer.windows()).filter((window) => isWanted(run, window));
  run.total = wanted.reduce((sum, { total }) => sum + total, 0);
  const found = { deleted: 0, withheld: 0, undecided: 0, unlisted: 0, hidden: 0 };
  const comparison: Comparison = {
    found,
    newcomers: 0,
    withheld: 0,
    unstored: before.unstored,
    isProven: true,
  };
  const work = await workOf(run, open, before);
  await writer.distrustEdited?.(wanted);
  for (const window of wanted) {
    const outcome = await proveWindow(work, window);
    note(comparison, run, window, outcome);
    if (outcome.kind !== 'fault') continue;
    await leaveUncut(run, open, before.total);
    break;
  }
  await open.sink.flush();
  run.notices = await writer.notices();
  return resultOf(open, before, comparison);
}

const isWanted = ({ setup }: PassRun, { from, to, failedAt }: WindowRecord): boolean =>
  failedAt === null &&
  (setup.request.windows ?? []).some((one) => one.from === from && one.to === to);

async function workOf(run: PassRun, open: OpenForm, checkpoint: Checkpoint): Promise<WindowWork> {
  const { writer } = open;
  const { context, request } = run.setup;
  const { maxDeleteFraction } = context;
  const acceptDeletes = request.acceptDeletes ?? false;
  const live = totalOf(await writer.statusCounts());
  const most = mostDeletions(live, { maxDeleteFraction, acceptDeletes });
  return {
    run,
    open,
    checkpoint,
    // With what the last comparisons of all other windows found: a source that loses one after the other trips the brake.
    isAllowed: async ({ from }, absent) => {
      const others = (await writer.windows()).filter((window) => window.from !== from);
      return others.reduce((sum, each) => sum + each.deleted + each.absent, absent) <= most;
    },
  };
}

function note(
  comparison: Comparison,
  run: PassRun,
  window: WindowRecord,
  outcome: WindowOutcome,
): void {
  const { kind, found } = outcome;
  addFound(comparison.found, found);
  comparison.newcomers += run.ledger.newcomersInPass;
  if (kind !== 'proven') {
    comparison.isProven = false;
    return;
  }
  comparison.withheld += found.withheld - window.absent;
  const [old, now] = [window, outcome.window].map(({ unstored }) => countsFrom(unstored));
  if (old && now) comparison.unstored = plusCounts(minusCounts(comparison.unstored, old), now);
}

async function resultOf(
  open: OpenForm,
  before: Checkpoint,
  { found, newcomers, isProven, unstored, ...more }: Comparison,
): Promise<PassResult> {
  const windows = await open.writer.windows();
  const since = oldestProof(windows);
  const withheld = Math.max(0, before.withheld + more.withheld);
  // Rows that the source is found to lack.
  const gone = found.deleted + withheld - before.withheld;
  // Those that the source's count was known to lack may be the very ones.
  const absent = Math.max(Math.min(before.absent, 0), before.absent - Math.max(0, gone));
  const total = before.total + before.absent + newcomers - gone - absent;
  const counted = await countedFor(open, before, total, [unstored, unstoredIn(windows)]);
  const isSettled = absent === 0 && withheld === 0 && before.hidden === 0;
  const checkpoint: Checkpoint = {
    ...before,
    total,
    absent,
    withheld,
    fullProvenAt: laterOf(before.fullProvenAt, since),
    ...(isSettled ? counted : notCounted(before)),
  };
  const { deleted, undecided } = found;
  const result = { ...NOTHING, checkpoint, deleted, undecided, withheld, unlisted: before.hidden };
  if (!isProven) return { ...result, outcome: 'incomplete' };
  const end = since === null ? {} : { comparedSince: since };
  return { ...result, outcome: outcomeOf(checkpoint), ...end };
}

const laterOf = (a: string | null, b: string | null): string | null =>
  a === null || b === null ? a : a > b ? a : b;

/** What is accounted for by status, where that makes up as many submissions as are accounted for in all. */
async function countedFor(
  { writer }: OpenForm,
  before: Checkpoint,
  total: number,
  unstored: readonly (StatusCounts | null)[],
): Promise<Counted> {
  for (const known of unstored) {
    if (known === null) continue;
    const counted = await countedAs(writer, known, before.countsAt);
    if (counted.statuses !== null && totalOf(counted.statuses) === total) return counted;
  }
  return notCounted(before);
}
