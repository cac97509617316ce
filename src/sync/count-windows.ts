import { type FormWindow, WHOLE_FORM } from '../mirror/window.ts';

/** How often a form whose counts move is counted again, and how often its newest window alone. */
const TRIES = 6;
const NEWEST_TRIES = 4;

/** How many submissions the source has. */
export interface WindowCounts {
  /** In each window. */
  readonly each: readonly number[];
  /** In the whole form: as many as in its windows. */
  readonly whole: number;
}

/** The counts that come first: of the whole form, and after that of each window but the newest. */
export interface FirstCounts {
  readonly whole: number;
  readonly older: readonly number[];
  /** In the newest, where a proof has accounted for as many since then: it is not counted where that adds up. */
  readonly newest?: number | undefined;
}

/** Asks how many submissions the source has in a window. */
type Count = (window: FormWindow) => Promise<number>;

/**
 * Counts the whole form, and then every window but the newest, `atOnce` at a time. `known`: how many the whole form had a
 * moment ago.
 */
export async function countOlder(
  windows: readonly FormWindow[],
  count: Count,
  { known, atOnce = Infinity }: { readonly known?: number; readonly atOnce?: number } = {},
): Promise<FirstCounts> {
  const whole = known ?? (await count(WHOLE_FORM));
  const older: number[] = [];
  const left = windows.slice(0, -1).entries();
  const countSome = async (): Promise<void> => {
    for (const [at, window] of left) older[at] = await count(window);
  };
  await Promise.all(Array.from({ length: Math.min(windows.length, atOnce) }, countSome));
  return { whole, older };
}

/**
 * Counts a form window by window and as a whole, and says whether that adds up: if it does, no submission is outside of all
 * windows, and none in two. `contradiction`: it does not, while the form stands still: the source does not read the bounds as
 * they are meant. `moving`: nothing can be said, as the counts change while they are asked for.
 *
 * The newest window is counted last but one, between two counts of the whole, as that is where submissions arrive: they all
 * stand for the instant of the last. `first`: what {@link countOlder} said of these windows a moment ago.
 */
export async function countWindows(
  windows: readonly FormWindow[],
  count: Count,
  first?: FirstCounts,
): Promise<WindowCounts | 'contradiction' | 'moving'> {
  const newest = windows.at(-1);
  if (newest === undefined) return 'contradiction';
  if (first?.newest !== undefined) {
    const each = [...first.older, first.newest];
    const whole = await count(WHOLE_FORM);
    if (sumOf(each) === whole && first.whole <= whole) return { each, whole };
  }
  let contradicted = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    const begun = tries === 0 ? first : undefined;
    const { whole: known, older: each } = begun ?? (await countOlder(windows, count));
    const older = sumOf(each);
    let before = known;
    const stood: boolean[] = [];
    for (let again = 0; again < NEWEST_TRIES; again++) {
      const last = await count(newest);
      const whole = await count(WHOLE_FORM);
      if (older + last === whole && before <= whole) return { each: [...each, last], whole };
      stood.push(before === whole);
      before = whole;
    }
    // Twice, as something may have been deleted while something else arrived.
    contradicted = stood.every(Boolean) ? contradicted + 1 : 0;
    if (contradicted >= 2) return 'contradiction';
  }
  return 'moving';
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0);
