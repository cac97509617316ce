import {
  minusCounts,
  NO_COUNTS,
  plusCounts,
  sameCounts,
  type StatusCounts,
  totalOf,
} from '../../src/mirror/status-counts.ts';
import { askable } from '../../src/sync/look-counts.ts';
import {
  judge,
  type LookSource,
  type TargetFacts,
  type Verdict,
} from '../../src/sync/look-judgement.ts';
import type { NewestPage } from '../../src/sync/look-page.ts';

/** A page that shows nothing but how many there are. */
const pageOf = (counts: StatusCounts): NewestPage => ({
  items: [],
  total: totalOf(counts),
  limit: 100,
});

/** Forms of a source, and what a target accounts for, as counts alone: a look with nothing around it. */
export class CountedWorld {
  /** By form. */
  readonly source = new Map<string, Map<string, number>>();
  readonly accounted = new Map<string, StatusCounts>();
  readonly unsettled = new Set<string>();
  /** Submissions that the workspace counts, of forms that are not mirrored. */
  foreign: StatusCounts = NO_COUNTS;
  others: StatusCounts | null = null;
  /** Those of them that came since the page that `others` goes with: a newest page that leaves none out shows them. */
  newcomers: StatusCounts = NO_COUNTS;
  /** Requests of the last tick beyond the workspace's own counts. */
  asked = 0;
  /** Called before each answer. */
  meddle: () => void = () => {};
  /** Forms that do not answer. */
  readonly silent = new Set<string>();
  lists: 'whole' | 'none' = 'whole';

  form(id: string, counts: Record<string, number>): this {
    this.source.set(id, new Map(Object.entries(counts)));
    return this;
  }

  /** Moves `by` submissions of a form into or out of a status. */
  change(id: string, status: string, by: number): void {
    const counts = this.source.get(id) ?? new Map<string, number>();
    counts.set(status, Math.max(0, (counts.get(status) ?? 0) + by));
    this.source.set(id, counts);
  }

  /** Somebody submits in a form that is not mirrored. */
  submitElsewhere(status: string): void {
    const one = askable(new Map([[status, 1]]));
    this.foreign = plusCounts(this.foreign, one);
    this.newcomers = plusCounts(this.newcomers, one);
  }

  countsOf(id: string): StatusCounts {
    return askable(this.source.get(id) ?? new Map());
  }

  workspace(): StatusCounts {
    return [...this.source.keys()].reduce(
      (sum: StatusCounts, id) => plusCounts(sum, this.countsOf(id)),
      askable(this.foreign),
    );
  }

  /** One look, and the passes that it asks for; a pass that need not compare counts finds as much. */
  async tick(given: Partial<TargetFacts> = {}): Promise<Verdict> {
    this.asked = 0;
    const elsewhere = this.others === null ? NO_COUNTS : this.newcomers;
    const verdict = await this.look({ elsewhere, ...given });
    this.others = verdict.others;
    if (verdict.page === 'shown') this.newcomers = minusCounts(this.newcomers, elsewhere);
    // As nobody knows what was there, the next page that `others` goes with shows nothing that is new.
    if (verdict.by === 'forms' || this.others === null) this.newcomers = NO_COUNTS;
    for (const id of verdict.visits.keys()) {
      if (this.silent.has(id)) continue;
      this.accounted.set(id, this.countsOf(id));
      this.unsettled.delete(id);
    }
    return verdict;
  }

  async look(given: Partial<TargetFacts> = {}): Promise<Verdict> {
    const ids = [...this.source.keys()];
    const facts = (): TargetFacts => ({
      settled: new Map(
        ids.flatMap((id) => {
          const counts = this.accounted.get(id);
          return counts === undefined || this.unsettled.has(id) ? [] : [[id, counts] as const];
        }),
      ),
      unsettled: ids.filter((id) => !this.accounted.has(id) || this.unsettled.has(id)),
      others: this.others,
      shown: new Map(),
      older: new Set(),
      elsewhere: NO_COUNTS,
      list: { read: 1, pages: 1, perPage: 0 },
      due: new Set(ids),
      compare: (id, { total }) =>
        Promise.resolve(
          total === totalOf(this.accounted.get(id) ?? NO_COUNTS) ? 'alike' : 'differs',
        ),
      news: () => [],
      ...given,
    });
    const first = await judge(facts(), this.#read(), this.#source(), { again: true, pages: 'no' });
    if (typeof first === 'object') return first;
    const may = { again: false, pages: 'no' } as const;
    const second = await judge(facts(), this.#read(), this.#source(), may);
    if (typeof second !== 'object') throw new Error('to be read again twice');
    return second;
  }

  /** Forms whose counts are not what is accounted for. */
  differing(): string[] {
    return [...this.source.keys()].filter(
      (id) => !sameCounts(this.countsOf(id), this.accounted.get(id) ?? NO_COUNTS),
    );
  }

  #read(): StatusCounts | null {
    this.meddle();
    return this.lists === 'whole' ? this.workspace() : null;
  }

  #source(): LookSource {
    const ask = <T>(id: string, answer: () => T): Promise<T | undefined> => {
      this.asked++;
      this.meddle();
      return Promise.resolve(this.silent.has(id) ? undefined : answer());
    };
    return {
      width: 2,
      count: (id, status) =>
        ask(id, () => {
          const counts = this.source.get(id) ?? new Map<string, number>();
          if (status !== null) return counts.get(status) ?? 0;
          return [...counts.values()].reduce((sum, each) => sum + each, 0);
        }),
      countsOf: (id) =>
        ask(id, () => ({ counts: this.countsOf(id), page: pageOf(this.countsOf(id)) })),
      formPage: (id) => ask(id, () => pageOf(this.countsOf(id))),
      emptyFormsInTurn: (ids) => ids,
      workspaceAgain: () => {
        this.meddle();
        const counts = this.workspace();
        return Promise.resolve({ counts, page: pageOf(counts) });
      },
    };
  }
}
