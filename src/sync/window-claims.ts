import { MirrorError } from '../base/errors.ts';
import type { Target, WindowWriter } from '../mirror/target.ts';
import { type FormWindow, sameWindow, type WindowRecord } from '../mirror/window.ts';
import type { PassRun } from './pass-run.ts';

/*
 * Where a target has its windows written side by side, whoever reads one claims it first: the lock in the target is what
 * keeps two from reading the same, and what a worker that dies gives back.
 */

/** Whether workers may read windows of the form beside this pass. */
export const sharesWindows = ({ setup }: PassRun): boolean =>
  setup.target.parallelWindows && setup.request.dryRun !== true;

/** Sorts windows by size, the largest first: what is begun last ends soon, so that nobody waits long for another. */
export const largestFirst = (one: WindowRecord, other: WindowRecord): number =>
  other.total - one.total;

/** An open window that this worker alone may write to. Dispose of its writer to give it back. */
export interface ClaimedWindow {
  readonly window: WindowRecord;
  readonly writer: WindowWriter;
}

/** Claims the first of these that nobody holds and that is open still; undefined where there is none. */
export async function claimWindow(
  target: Target,
  formId: string,
  windows: readonly FormWindow[],
  signal: AbortSignal,
): Promise<ClaimedWindow | undefined> {
  for (const each of windows) {
    const writer = await openIfFree(target, formId, each, signal);
    if (writer === undefined) continue;
    const window = (await writer.windows()).find((now) => sameWindow(now, each));
    if (window?.open === true) return { window, writer };
    // Whoever held it has proven it meanwhile.
    await writer[Symbol.asyncDispose]();
  }
  return undefined;
}

async function openIfFree(
  target: Target,
  formId: string,
  window: FormWindow,
  signal: AbortSignal,
): Promise<WindowWriter | undefined> {
  try {
    return await target.openWindowWriter(formId, window, { waitMs: 0, signal });
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'TARGET_BUSY') return undefined;
    throw error;
  }
}
