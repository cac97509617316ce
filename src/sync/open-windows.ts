import { isAbort } from '../base/errors.ts';
import { LinkedSignal } from '../base/linked-signal.ts';
import type { FormReader } from '../mirror/target.ts';
import { isShared, sameWindow, type WindowRecord } from '../mirror/window.ts';
import type { DeletionResult } from './deletions.ts';
import { type TakenWindow, WindowAhead } from './window-ahead.ts';
import { claimWindow, largestFirst, sharesWindows } from './window-claims.ts';
import { beginWindow, proveWindow, type WindowOutcome, type WindowWork } from './window-proof.ts';

/** How often is looked at what others have done. */
const LOOK_MS = 1_000;
/** How long to wait while others hold every window that is left. */
const HELD_MS = 50;

/** How often a window is read that does not find its proof. */
const TRIES = 2;

/** What became of some windows: `unproven` where one of them was not, though it was tried again. */
export type WindowsOutcome = 'proven' | 'unproven' | 'fault';

/** Counts of rows, over several windows. */
export type FoundRows = { -readonly [Count in keyof DeletionResult]: number };

/** Adds what one window has found. */
export function addFound(all: FoundRows, found: DeletionResult): void {
  all.deleted += found.deleted;
  all.withheld += found.withheld;
  all.undecided += found.undecided;
  all.unlisted += found.unlisted;
  all.hidden += found.hidden;
}

/**
 * Proves every window that is open but the newest, the largest first, one at a time; `found` collects what becomes of absent
 * rows. Which windows are open is asked of the target before each: others may prove some of them, where the target has
 * windows written side by side, and those that they hold are waited for.
 */
export async function proveOpenWindows(
  work: WindowWork,
  found: FoundRows,
): Promise<WindowsOutcome> {
  if (!sharesWindows(work.run)) return proveThem(work, found);
  using stop = new LinkedSignal(work.run.setup.signal);
  const following = followOthers(work, stop.signal);
  try {
    return await proveThem(work, found);
  } finally {
    stop.abort();
    await following;
  }
}

async function proveThem(work: WindowWork, found: FoundRows): Promise<WindowsOutcome> {
  const { run, open: form } = work;
  const { context, signal } = run.setup;
  const tries = new Map<string, number>();
  const triesOf = ({ from }: WindowRecord): number => tries.get(from ?? '') ?? 0;
  const takeNext = async (current: WindowRecord): Promise<TakenWindow | undefined> => {
    const others = (await openOnes(form.writer)).filter((window) => !sameWindow(window, current));
    return takeOne(work, inOrder(others, triesOf, 1));
  };
  await using ahead = new WindowAhead();
  for (;;) {
    if (work.isInVain?.() === true) return 'fault';
    let taken = await ahead.next();
    if (taken === undefined) {
      const open = await openOnes(form.writer);
      const untried = inOrder(open, triesOf, TRIES);
      if (untried.length === 0) return open.length === 0 ? 'proven' : 'unproven';
      taken = await takeOne(work, untried);
    }
    if (taken === undefined) {
      await context.clock.sleep(HELD_MS, signal);
      continue;
    }
    const { window } = taken;
    tries.set(window.from ?? '', triesOf(window) + 1);
    const outcome = await proveTaken(work, taken, () => ahead.begin(() => takeNext(window)));
    addFound(found, outcome.found);
    if (outcome.kind === 'fault') return 'fault';
  }
}

const openOnes = async (reader: FormReader): Promise<WindowRecord[]> =>
  (await reader.windows()).filter((window) => window.open && window.to !== null);

/** Those that have not been tried so often. Those that found no proof come last: the source may be calmer then. */
const inOrder = (
  windows: readonly WindowRecord[],
  triesOf: (window: WindowRecord) => number,
  most: number,
): WindowRecord[] =>
  windows
    .filter((window) => triesOf(window) < most)
    .toSorted((a, b) => triesOf(a) - triesOf(b) || largestFirst(a, b));

/** The first of these that is free, begun to be read; undefined where others hold them all. */
async function takeOne(
  work: WindowWork,
  windows: readonly WindowRecord[],
): Promise<TakenWindow | undefined> {
  const { open, run } = work;
  const { target, signal } = run.setup;
  const [first] = windows;
  const taken = sharesWindows(run)
    ? await claimWindow(target, open.form.id, windows, signal)
    : first && { window: first };
  return taken && { ...taken, begun: beginWindow(run, taken.window) };
}

async function proveTaken(
  work: WindowWork,
  { window, writer, begun }: TakenWindow,
  onTail: () => void,
): Promise<WindowOutcome> {
  const { open, run } = work;
  run.share.take(window);
  await using held = writer;
  await using _begun = begun;
  if (held === undefined) return await proveWindow({ ...work, onTail }, window, begun);
  await open.sink.writeThrough(held);
  const windowWork = { ...work, onTail, open: { ...open, writer: held } };
  const outcome = await proveWindow(windowWork, window, begun);
  await open.sink.writeThrough(open.writer);
  return outcome;
}

/** Tells of what others do, and asks for help, as long as there are windows that nobody has proven. */
async function followOthers({ open, run }: WindowWork, signal: AbortSignal): Promise<void> {
  const { context } = run.setup;
  try {
    for (;;) {
      const windows = await open.writer.windows();
      run.share.follow(windows);
      run.tellProgress();
      const free = windows.filter(isShared).length;
      if (free > 0) context.events.emit('windows.open', { ...run.subject, open: free });
      await context.clock.sleep(LOOK_MS, signal);
    }
  } catch (error) {
    // What fails here fails in the pass as well.
    if (!isAbort(error)) context.logger.debug({ err: error }, 'Others could not be followed.');
  }
}
