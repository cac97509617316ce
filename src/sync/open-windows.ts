import type { WindowRecord } from '../mirror/window.ts';
import type { DeletionResult } from './deletions.ts';
import { proveWindow, type WindowWork } from './window-proof.ts';

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
 * Proves every window that is open but the newest, the oldest first, one at a time; `found` collects what becomes of absent
 * rows. Which windows are open is asked of the target before each: others may prove some of them.
 */
export async function proveOpenWindows(
  work: WindowWork,
  found: FoundRows,
): Promise<WindowsOutcome> {
  const tries = new Map<string, number>();
  const triesOf = ({ from }: WindowRecord): number => tries.get(from ?? '') ?? 0;
  for (;;) {
    const open = (await work.open.writer.windows()).filter(
      (window) => window.open && window.to !== null,
    );
    const untried = open.filter((window) => triesOf(window) < TRIES);
    // Those that found no proof come last: the source may be calmer then.
    const [next] = untried.toSorted((a, b) => triesOf(a) - triesOf(b));
    if (next === undefined) return open.length === 0 ? 'proven' : 'unproven';
    tries.set(next.from ?? '', triesOf(next) + 1);
    const outcome = await proveWindow(work, next);
    addFound(found, outcome.found);
    if (outcome.kind === 'fault') return 'fault';
  }
}
