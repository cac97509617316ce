import type { FormWindow, WindowReading, WindowRecord } from '../mirror/window.ts';

type Helped = { -readonly [Count in keyof WindowReading]: number };

const nothing = (): Helped => ({
  seen: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  rejected: 0,
  deleted: 0,
  undecided: 0,
  requests: 0,
});

const nameOf = ({ from }: FormWindow): string => from ?? '';

/** What of a form's windows others account for: passes that died, and workers that help this one. As far as the target tells. */
export class WindowShare {
  /** Those that this pass reads itself. */
  #own = new Set<string>();
  #seen = 0;
  #helped = nothing();

  /** A pass begins with these windows. */
  begin(windows: readonly WindowRecord[]): void {
    this.#own = new Set();
    this.follow(windows);
  }

  /** This pass reads a window itself. */
  take(window: FormWindow): void {
    this.#own.add(nameOf(window));
  }

  /** The windows as they are now. */
  follow(windows: readonly WindowRecord[]): void {
    const others = windows.filter((window) => !this.#own.has(nameOf(window)));
    const helped = nothing();
    for (const { reading } of others) {
      if (reading === null) continue;
      for (const key of Object.keys(helped) as (keyof Helped)[]) helped[key] += reading[key];
    }
    this.#helped = helped;
    this.#seen = others.reduce(
      (sum, { open, reading, total }) => sum + (open ? (reading?.seen ?? 0) : total),
      0,
    );
  }

  /** Submissions that are accounted for, or were seen by now. */
  get seen(): number {
    return this.#seen;
  }

  /** What workers that help have done for this pass. */
  get helped(): Readonly<Helped> {
    return this.#helped;
  }
}
