import {
  minusCounts,
  NO_COUNTS,
  plusCounts,
  sameCounts,
  type StatusCounts,
  sumOf,
  tallied,
  totalOf,
} from '../mirror/status-counts.ts';
import { STATUSES, type Submission } from '../mirror/types.ts';
import { OTHER } from './look-counts.ts';
import { type NewestPage, pagesWorth, type ReadingOn } from './look-page.ts';
import { type FormCounts, searchForms } from './look-search.ts';

/** What is known of a target when a look judges it. All counts are {@link askable} ones. */
export interface TargetFacts {
  /** Its settled forms, with what is accounted for of each. */
  readonly settled: ReadonlyMap<string, StatusCounts>;
  /** Its other forms: they are visited whatever the counts say. */
  readonly unsettled: readonly string[];
  /** Submissions of forms that it does not mirror, as of its last look; null: not known. */
  readonly others: StatusCounts | null;
  /** By settled form, what the newest page shows beyond what is accounted for. */
  readonly shown: ReadonlyMap<string, StatusCounts>;
  /** Those of them of which a further page shows what was there at the form's last pass: a plain pass may not come so far. */
  readonly older: ReadonlySet<string>;
  /** What the newest page shows of forms that it does not mirror, and was certainly not there when `others` was found out. */
  readonly elsewhere: StatusCounts;
  /** How much of the workspace's list was read. */
  readonly list: Pick<ReadingOn, 'read' | 'pages' | 'perPage'>;
  /** Where each form is asked for itself: the settled forms whose turn it is to be asked for all statuses. */
  readonly due: ReadonlySet<string>;
  /** What the newest page of a settled form's own list says of it. */
  readonly compare: (formId: string, page: NewestPage) => Promise<PageVerdict>;
  /** What a newest page that is read now shows, and no page before it. */
  readonly news: (page: NewestPage) => readonly Pick<Submission, 'formId' | 'status'>[];
}

/**
 * `agrees`: it shows the whole form, which is as accounted for. `alike`: so is what it shows, and how many there are.
 * `newer`: it shows something new, and that makes up for their number. `differs`: anything else.
 */
export type PageVerdict = 'agrees' | 'alike' | 'newer' | 'differs';

/** What a form has: its counts, and then its newest page. */
export interface FormCounted {
  readonly counts: StatusCounts;
  readonly page: NewestPage;
}

/** What the workspace has of some statuses, and then its newest page. */
export type WorkspaceAgain = FormCounted;

/** What the source is asked for beyond the workspace's counts. */
export interface LookSource extends FormCounts {
  /** A form's own counts; `unasked`: the API does not count by status; undefined where it does not answer. */
  countsOf(formId: string): Promise<FormCounted | 'unasked' | undefined>;
  /** The newest page of a form's own list; undefined where it does not answer. */
  formPage(formId: string): Promise<NewestPage | undefined>;
  /** Of these forms those whose turn it is to be asked for their number where the workspace has none; all of them where it never had any. */
  emptyFormsInTurn(formIds: readonly string[], hadSome: boolean): readonly string[];
  /** The workspace's counts of these statuses once more; undefined where they can't be had. */
  workspaceAgain(statuses: readonly string[]): Promise<WorkspaceAgain | undefined>;
}

/** Which forms of a target need a pass. */
export interface Verdict {
  /** By form, whether its pass is to compare counts by status. The others are as accounted for. */
  readonly visits: ReadonlyMap<string, { readonly compareCounts: boolean }>;
  /** Forms that are not visited, though not all of their statuses were counted. */
  readonly uncounted: ReadonlySet<string>;
  /** As {@link TargetFacts.others}, from now on. */
  readonly others: StatusCounts | null;
  /** Which newest page `others` goes with, so that what that page did not show had not been counted: that of its last look, or the one that was judged by. */
  readonly page: 'before' | 'shown';
  /** How it was found out: for logs. */
  readonly by: 'nothing-settled' | 'workspace' | 'newest-page' | 'search' | 'forms';
  /** The source changed while forms were asked: nothing is known of those that are not visited. */
  readonly isTorn?: boolean;
}

/** What a look may be told to do first. */
export interface MayAsk {
  /** To read the workspace again, where a change may have torn its counts while they were read. */
  readonly again: boolean;
  /** To read its list on; `uncounted`: that was done, and its counts are older than the last page. */
  readonly pages: 'no' | 'yes' | 'uncounted';
}

/**
 * `again`: the workspace is to be read again, its list as far as it was read before. A number: so many further pages of the
 * list are to be read. Then it is to be judged anew.
 */
export type ToAsk = 'again' | number;

/**
 * Judges a target's forms by what the workspace counts, in the order of what that costs: all together, by the newest
 * page and those after it, then form by form until the difference is explained. `workspace` is null where its counts mean
 * nothing: then each form is asked for its own.
 */
export async function judge(
  facts: TargetFacts,
  workspace: StatusCounts | null,
  source: LookSource,
  may: MayAsk,
): Promise<Verdict | ToAsk> {
  const { settled, unsettled } = facts;
  const visits = new Map(unsettled.map((formId) => [formId, { compareCounts: false }]));
  if (settled.size === 0)
    return {
      visits,
      uncounted: NONE,
      others: facts.others,
      page: 'before',
      by: 'nothing-settled',
    };
  const judging = new Judging(facts, source, visits);
  if (workspace === null) return judging.byForms('in turn');
  // An empty list does not show that it would show anything.
  if (workspace.size === 0) return judging.ofNone();
  // To know what the others have, they have to be asked, each for all it has.
  if (unsettled.length > settled.size) return judging.byForms('all');
  const open = await judging.countUnsettled();
  if (open === undefined) return judging.byForms('all');
  const mirrored = minusCounts(workspace, open);
  if (facts.others === null) return judging.establish(workspace, mirrored);
  return judging.compare(minusCounts(mirrored, facts.others), workspace, may);
}

const NONE: ReadonlySet<string> = new Set();

class Judging {
  readonly #facts: TargetFacts;
  readonly #source: LookSource;
  readonly #visits: Map<string, { compareCounts: boolean }>;
  readonly #uncounted = new Set<string>();
  /** As accounted for, and as the newest page shows it. */
  readonly #expected: ReadonlyMap<string, StatusCounts>;

  constructor(
    facts: TargetFacts,
    source: LookSource,
    visits: Map<string, { compareCounts: boolean }>,
  ) {
    this.#facts = facts;
    this.#source = source;
    this.#visits = visits;
    this.#expected = new Map(
      [...facts.settled].map(([formId, counts]) => {
        return [formId, plusCounts(counts, facts.shown.get(formId) ?? NO_COUNTS)];
      }),
    );
  }

  /** What the source has of the forms that are not settled; undefined where it does not say. */
  async countUnsettled(): Promise<StatusCounts | undefined> {
    let sum: StatusCounts = NO_COUNTS;
    for (const formId of this.#facts.unsettled) {
      const counted = await this.#source.countsOf(formId);
      if (counted === undefined || counted === 'unasked') return undefined;
      sum = plusCounts(sum, counted.counts);
    }
    return sum;
  }

  /** `mirrored`: what the workspace counts of the settled forms. */
  async compare(
    mirrored: StatusCounts,
    workspace: StatusCounts,
    may: MayAsk,
  ): Promise<Verdict | ToAsk> {
    const { shown, older, elsewhere, unsettled } = this.#facts;
    const before = this.#facts.others ?? NO_COUNTS;
    const others = plusCounts(before, elsewhere);
    // Others have these in any case: where the counts are what they were although they came, something else is gone.
    const difference = minusCounts(
      minusCounts(mirrored, sumOf(this.#expected.values())),
      elsewhere,
    );
    for (const formId of shown.keys()) this.#visit(formId, older.has(formId));
    if (difference.size > 0) {
      // What was counted under two statuses, or under none, because it changed in between.
      if (may.again && difference.has(OTHER)) return 'again';
      const more = may.pages === 'no' ? 0 : this.#pagesWorth(difference);
      if (more > 0) return more;
    }
    // What a page shows explains counts that were read after it.
    if (may.pages === 'uncounted') return 'again';
    const found = await searchForms(difference, this.#expected, this.#source);
    for (const formId of [...found.forms.keys(), ...found.silent]) this.#visit(formId, true);
    // What changed since the workspace was counted may make a form explain what another one, which is not visited, has lost.
    const hasAsked = difference.size + unsettled.length > 0;
    const isClaimed = [...this.#expected.keys()].some((formId) => !this.#visits.has(formId));
    if (
      hasAsked &&
      isClaimed &&
      (await this.#cameSince(workspace, difference.keys())) === undefined
    ) {
      if (may.again) return 'again';
      return { ...this.#end, others: before, page: 'before', by: 'search', isTorn: true };
    }
    if (difference.size === 0) {
      const by = shown.size + elsewhere.size === 0 ? 'workspace' : 'newest-page';
      return { ...this.#end, others, page: 'shown', by };
    }
    const isExplained = found.left.size === 0 && found.silent.size === 0;
    if (isExplained) return { ...this.#end, others, page: 'shown', by: 'search' };
    // A form's own list may be late, or have changed and changed back: so the next look asks each form for all it has.
    const isBeyond = found.left.size > 0 && found.silent.size === 0;
    return { ...this.#end, others: isBeyond ? null : before, page: 'before', by: 'search' };
  }

  /**
   * Finds out what the workspace has besides the mirrored forms, which takes that each of these is as it is taken to be.
   * Where there seem to be no others, totals show that: had something changed in one form, another would have to be
   * there that undoes it.
   */
  async establish(workspace: StatusCounts, mirrored: StatusCounts): Promise<Verdict> {
    const { shown, unsettled } = this.#facts;
    for (const formId of shown.keys()) this.#visit(formId, false);
    const isAll = unsettled.length === 0 && sameCounts(mirrored, sumOf(this.#expected.values()));
    if (isAll && (await this.#totalsAgree())) {
      return { ...this.#end, others: NO_COUNTS, page: 'shown', by: 'forms' };
    }
    const asked = await this.#askForms();
    const unknown = { ...this.#end, others: null, page: 'before', by: 'forms' } as const;
    if (asked.sum === undefined) return unknown;
    const others = minusCounts(mirrored, asked.sum);
    const isCertain = asked.differ === 0 && unsettled.length === 0 && !others.has(OTHER);
    const isStill = async (): Promise<boolean> =>
      (await this.#cameSince(workspace, STATUSES))?.size === 0;
    const isKnown = isPossible(others) && (isCertain || (await isStill()));
    return isKnown ? { ...unknown, ...this.#end, others, page: 'shown' } : unknown;
  }

  /**
   * Asks each form for itself: `all` for its counts by status; `in turn` those whose turn it is, and the others for their newest
   * page, which says how many there are.
   */
  async byForms(which: 'all' | 'in turn'): Promise<Verdict> {
    const { shown, due, others } = this.#facts;
    for (const formId of shown.keys()) this.#visit(formId, false);
    const forms = [...this.#expected.keys()];
    const isToCount = (formId: string): boolean => which === 'all' || due.has(formId);
    await this.#askForms(forms.filter(isToCount));
    const rest = forms.filter((formId) => !isToCount(formId));
    const { width } = this.#source;
    for (let at = 0; at < rest.length; at += width) {
      await Promise.all(rest.slice(at, at + width).map((formId) => this.#askForPage(formId)));
    }
    return { ...this.#end, others, page: 'before', by: 'forms' };
  }

  /** The list of the workspace is empty. Where nothing is accounted for either, some forms are asked in turn. */
  async ofNone(): Promise<Verdict> {
    const { unsettled, others } = this.#facts;
    if (unsettled.length > 0 || sumOf(this.#expected.values()).size > 0) {
      return this.byForms('all');
    }
    const forms = this.#source.emptyFormsInTurn([...this.#expected.keys()], others !== null);
    const counts = await Promise.all(forms.map((formId) => this.#source.count(formId, null)));
    if (counts.some((count) => count !== 0)) return this.byForms('all');
    const known = others !== null && others.size === 0 ? others : null;
    return { ...this.#end, others: known, page: 'before', by: 'forms' };
  }

  get #end(): Pick<Verdict, 'visits' | 'uncounted'> {
    return { visits: this.#visits, uncounted: this.#uncounted };
  }

  async #askForPage(formId: string): Promise<void> {
    const page = await this.#source.formPage(formId);
    const found = page && (await this.#facts.compare(formId, page));
    if (found === 'alike') this.#uncounted.add(formId);
    if (found !== 'alike' && found !== 'agrees') this.#visit(formId, found === 'differs');
  }

  async #totalsAgree(): Promise<boolean> {
    const forms = [...this.#expected];
    const { width } = this.#source;
    for (let at = 0; at < forms.length; at += width) {
      const agree = await Promise.all(
        forms.slice(at, at + width).map(async ([formId, counts]) => {
          const page = await this.#source.formPage(formId);
          return page?.total === totalOf(counts) && (await this.#isAsAccounted(formId, page));
        }),
      );
      if (agree.includes(false)) return false;
    }
    return true;
  }

  /** Has those of these forms visited whose counts differ from what is expected. `sum`: what they have together; undefined where one did not say. */
  async #askForms(
    formIds: Iterable<string> = this.#expected.keys(),
  ): Promise<{ sum: StatusCounts | undefined; differ: number }> {
    let sum: StatusCounts | undefined = NO_COUNTS;
    let differ = 0;
    for (const formId of formIds) {
      const expected = this.#expected.get(formId) ?? NO_COUNTS;
      const counted = await this.#source.countsOf(formId);
      if (counted === undefined || counted === 'unasked') {
        // Nothing says that it is as accounted for: a pass looks, as it did before there were counts.
        this.#visit(formId, false);
        sum = undefined;
        continue;
      }
      const { counts, page } = counted;
      if (sum !== undefined) sum = plusCounts(sum, counts);
      if (sameCounts(counts, expected) && (await this.#isAsAccounted(formId, page))) continue;
      differ++;
      this.#visit(formId, true);
    }
    return { sum, differ };
  }

  /** A newcomer that the counts of a form have may hide what it has lost: its newest page, read after them, shows it. */
  async #isAsAccounted(formId: string, page: NewestPage): Promise<boolean> {
    if (this.#facts.shown.has(formId)) return true;
    const found = await this.#facts.compare(formId, page);
    return found === 'agrees' || found === 'alike';
  }

  #pagesWorth(left: StatusCounts): number {
    return pagesWorth({ ...this.#facts.list, left, forms: this.#expected.size });
  }

  /**
   * What has come since the workspace was counted, if nothing else has changed in how many it has, and has of these statuses;
   * undefined where something has. Forms that got any are visited: what they were asked since may hide what they have lost.
   */
  async #cameSince(
    workspace: StatusCounts,
    statuses: Iterable<string>,
  ): Promise<StatusCounts | undefined> {
    const asked = [...statuses].filter((status) => status !== OTHER);
    const again = await this.#source.workspaceAgain(asked);
    if (again === undefined) return undefined;
    const news = this.#facts.news(again.page);
    for (const { formId } of news) {
      if (this.#facts.settled.has(formId)) this.#visit(formId, true);
    }
    const came = tallied(news);
    const now = plusCounts(workspace, came);
    const isStill =
      again.page.total === totalOf(now) &&
      asked.every((status) => (again.counts.get(status) ?? 0) === (now.get(status) ?? 0));
    return isStill ? came : undefined;
  }

  #visit(formId: string, compareCounts: boolean): void {
    const before = this.#visits.get(formId)?.compareCounts ?? false;
    this.#visits.set(formId, { compareCounts: before || compareCounts });
  }
}

/** Where others have fewer than none, the list of the workspace does not show all that the forms' own lists do. */
const isPossible = (others: StatusCounts): boolean =>
  [...others.values()].every((count) => count > 0);
