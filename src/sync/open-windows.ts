import type { FormReader } from '../mirror/target.ts';
import { sameWindow, type WindowRecord } from '../mirror/window.ts';
import type { DeletionResult } from './deletions.ts';
import { type TakenWindow, WindowAhead } from './window-ahead.ts';
import { beginWindow, proveWindow, type WindowOutcome, type WindowWork } from './window-proof.ts';

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

/** Proves every window that is open but the newest, the largest first, one at a time; `found` collects what becomes of absent rows. */
export async function proveOpenWindows(
  work: WindowWork,
  found: FoundRows,
): Promise<WindowsOutcome> {
  const { run, open: form } = work;
  const tries = new Map<string, number>();
  const triesOf = ({ from }: WindowRecord): number => tries.get(from ?? '') ?? 0;
  const begin = (window: WindowRecord | undefined): TakenWindow | undefined =>
    window && { window, begun: beginWindow(run, window) };
  const takeNext = async (current: WindowRecord): Promise<TakenWindow | undefined> => {
    const others = (await openOnes(form.writer)).filter((window) => !sameWindow(window, current));
    return begin(inOrder(others, triesOf, 1)[0]);
  };
  await using ahead = new WindowAhead();
  for (;;) {
    if (work.isInVain?.() === true) return 'fault';
    let taken = await ahead.next();
    if (taken === undefined) {
      const open = await openOnes(form.writer);
      taken = begin(inOrder(open, triesOf, TRIES)[0]);
      if (taken === undefined) return open.length === 0 ? 'proven' : 'unproven';
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
    .toSorted((a, b) => triesOf(a) - triesOf(b) || b.total - a.total);

async function proveTaken(
  work: WindowWork,
  { window, begun }: TakenWindow,
  onTail: () => void,
): Promise<WindowOutcome> {
  await using _begun = begun;
  return await proveWindow({ ...work, onTail }, window, begun);
}
