import {
  type CountChange,
  type Difference,
  differencesOf,
  mayHide,
  summed,
} from './differences.ts';
import type { World } from './world.ts';
import type { Move } from './watched-store.ts';

/** What became of the differences that were there when the source came to rest. */
export interface FreshTally {
  /** Judgements of a form in a target; edits that were left, and what changed in pairs so that no count showed it. */
  judged: number;
  edits: number;
  exchanged: number;
  /** Judgements in which something else hid what was left. */
  hidden: number;
  /** Ticks over a source at rest whose requests were counted. */
  quiet: number;
  /** Deletions that nothing but a newcomer elsewhere told of. */
  replaced: number;
}

export const newFreshTally = (): FreshTally => ({
  judged: 0,
  edits: 0,
  exchanged: 0,
  hidden: 0,
  quiet: 0,
  replaced: 0,
});

/** More absent rows than this in a form may have tripped the brake of L8, which waits for a person. */
const BRAKE_ROWS = 20;

/**
 * L16, for one target: what may differ from a source that rested for two ticks. Counts by status are all that a look
 * compares, so what is left has to cancel out in them: in those of its form, where each form is asked for its own; else in
 * those of the workspace. There what moved in forms that this target does not mirror counts, too, and anywhere what moved
 * of submissions in a shape that can't be stored. All of it is known here, move by move, so that nothing is excused which
 * a count showed.
 */
export class FreshJudge {
  readonly #world: World;
  readonly #target: number;
  /** By form, where, among all moves, those begin that no clean judgement of it covers: a target may not take a form for a time. */
  readonly #since = new Map<string, number>();
  readonly #tally: FreshTally;

  constructor(world: World, target: number, tally: FreshTally) {
    [this.#world, this.#target, this.#tally] = [world, target, tally];
  }

  /** A sentence for each breach, at a moment when two ticks have passed over a source that stood still. */
  judge(forms: readonly string[]): string[] {
    const { store, views, asksWorkspace, forgotten } = this.#world;
    const view = views[this.#target]!;
    const back = [...forgotten].filter((id) => forms.some((form) => view.rows(form).has(id)));
    if (back.length > 0) return back.map((id) => `L18: ${id} was forgotten, and is here`);
    const byForm = forms
      .map((formId) => ({ forms: [formId], found: differencesOf(store, view, formId, forgotten) }))
      .filter(({ found }) => !isBraked(found));
    const all = { forms, found: byForm.flatMap(({ found }) => found) };
    this.#tally.judged += forms.length;
    this.#tally.edits += all.found.filter(({ counts }) => counts.size === 0).length;
    const groups = (asksWorkspace ? [all] : byForm).map(({ forms: own, found }) => {
      return { own, found, sum: summed(found.map(({ counts }) => counts)) };
    });
    if (groups.every(({ sum }) => sum.size === 0)) {
      const exchanged = all.found.filter(({ counts }) => counts.size > 0);
      this.#tally.exchanged += exchanged.length;
      // One of those that traded their statuses may be forgotten later: then counts show no more of the other.
      const unclear = new Set(exchanged.map(({ formId }) => formId));
      for (const form of forms) {
        if (!unclear.has(form)) this.#since.set(form, store.moves.length);
      }
      return [];
    }
    const shown = groups.filter(({ sum, own }) => {
      return !mayHide(sum, this.#beside(own), (id) => this.#showsNone(id));
    });
    if (shown.length === 0) this.#tally.hidden++;
    return shown.map(({ found, sum }) => `L16: target ${this.#target}: ${told(found, sum)}`);
  }

  /**
   * Moves of what is not compared here: in other forms, and of submissions that can't be stored as they are. With which
   * status one is counted that shows none is never certain.
   */
  #beside(forms: readonly string[]): Move[] {
    const { store, asksWorkspace, forgotten } = this.#world;
    const since = Math.min(...forms.map((form) => this.#since.get(form) ?? 0));
    // Neither stands for a row of its own: what becomes of some may make up for others.
    const isOdd = ({ id }: Move): boolean =>
      store.distortionOf(id) !== undefined || forgotten.has(id);
    return store.moves.filter((move, at) => {
      if (!forms.includes(move.formId)) return asksWorkspace && at >= since;
      return this.#showsNone(move.id) || (isOdd(move) && at >= since);
    });
  }

  #showsNone(id: string): boolean {
    return 'status' in (this.#world.store.distortionOf(id) ?? {});
  }
}

const isBraked = (found: readonly Difference[]): boolean =>
  found.filter(({ what }) => what.startsWith('is gone')).length > BRAKE_ROWS;

function told(found: readonly Difference[], sum: CountChange): string {
  const counts = [...sum].map(([status, count]) => `${status} ${count > 0 ? '+' : ''}${count}`);
  const what = found
    .filter((each) => each.counts.size > 0)
    .map(({ formId, id, what: difference }) => `${id} of ${formId} ${difference}`);
  return `counts that differ by ${counts.join(', ')} were not followed: ${what.join('; ')}`;
}
