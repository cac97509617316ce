import { isAbort } from '../base/errors.ts';
import { LinkedSignal } from '../base/linked-signal.ts';
import { isShared, type WindowRecord } from '../mirror/window.ts';
import type { DeletionResult } from './deletions.ts';
import { claimWindow, largestFirst, sharesWindows } from './window-claims.ts';
import { proveWindow, type WindowOutcome, type WindowWork } from './window-proof.ts';

/** How often is looked at what others have done. */
const LOOK_MS = 1_000;
/** How long to wait while others hold every window that is left. */
const HELD_MS = 250;

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
  for (;;) {
    const open = (await form.writer.windows()).filter(
      (window) => window.open && window.to !== null,
    );
    const untried = open.filter((window) => triesOf(window) < TRIES);
    if (untried.length === 0) return open.length === 0 ? 'proven' : 'unproven';
    // Those that found no proof come last: the source may be calmer then.
    const inOrder = untried.toSorted((a, b) => triesOf(a) - triesOf(b) || largestFirst(a, b));
    const outcome = await proveOne(work, inOrder, (window) => {
      tries.set(window.from ?? '', triesOf(window) + 1);
      run.share.take(window);
    });
    if (outcome === undefined) {
      await context.clock.sleep(HELD_MS, signal);
      continue;
    }
    addFound(found, outcome.found);
    if (outcome.kind === 'fault') return 'fault';
  }
}

/** Proves the first of these that is free; undefined where others hold them all. */
async function proveOne(
  work: WindowWork,
  windows: readonly WindowRecord[],
  onBegun: (window: WindowRecord) => void,
): Promise<WindowOutcome | undefined> {
  const { open, run } = work;
  const { setup } = run;
  if (!sharesWindows(run)) {
    const [first] = windows;
    if (first === undefined) return undefined;
    onBegun(first);
    return proveWindow(work, first);
  }
  const claimed = await claimWindow(setup.target, open.form.id, windows, setup.signal);
  if (claimed === undefined) return undefined;
  await using writer = claimed.writer;
  onBegun(claimed.window);
  await open.sink.writeThrough(writer);
  const outcome = await proveWindow({ ...work, open: { ...open, writer } }, claimed.window);
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
