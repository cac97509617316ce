import { throwIfAborted } from '../base/clock.ts';
import { withinTime } from '../base/deadline.ts';
import { isAbort } from '../base/errors.ts';
import { withLogFields } from '../base/logger.ts';
import type { CountsRecord } from '../mirror/status-counts.ts';
import type { OtherCounts, WithheldForm } from '../mirror/look-record.ts';
import { countedAt, lookOf } from '../mirror/looked.ts';
import { REFUSAL_LASTS_MS } from '../mirror/mark-rules.ts';
import type { StoringSettings } from '../mirror/proven-for.ts';
import { minusCounts, NO_COUNTS, sumOf, totalOf } from '../mirror/status-counts.ts';
import type { Target } from '../mirror/target.ts';
import type { Form } from '../mirror/types.ts';
import type { SyncContext } from './context.ts';
import type { PassReport } from './events.ts';
import type { MarkingRules } from './look-form.ts';
import { judge, type MayAsk, type ToAsk, type Verdict } from './look-judgement.ts';
import { foreignPage, type NewestPage } from './look-page.ts';
import { settledReport } from './look-report.ts';
import { SourceReading, type Workspace } from './look-source.ts';
import { factsOf, formsPrint, lookAtTarget, type LookedTarget, othersOf } from './look-target.ts';
import type { FormPlan } from './planner.ts';
import { Turns } from './turns.ts';

/** What a look is asked. */
export interface LookRequest {
  readonly forms: readonly FormPlan[];
  /** The targets of these forms. */
  readonly targets: readonly LookTarget[];
  readonly marking: { readonly status: string; readonly from: readonly string[] } | undefined;
  /** Throws while nothing of the form may be stored in a target. */
  readonly requireNames: (target: string, form: Form, signal: AbortSignal) => Promise<void>;
  /** Writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** A person waits for it: targets may take their time, and each form's rows are looked at. */
  readonly isByHand?: boolean | undefined;
  /** Whose turn it is, over the looks of a process, where a look asks a few forms only; absent: it looks at no rows. */
  readonly turns?: Turns | undefined;
  /** Reports no settled form: it follows a look that has, and the passes that that found needed. */
  readonly isClosing?: boolean | undefined;
}

/** A target as a look needs it. */
export interface LookTarget {
  readonly name: string;
  /** Undefined while no fields are picked: then its passes say so. */
  readonly storing: StoringSettings | undefined;
  readonly open: () => Promise<Target>;
}

/** A pass that a look found needed. */
export interface Visit {
  readonly target: string;
  /** The form's counts by status differ: the pass is to find out in which submissions. */
  readonly compareCounts: boolean;
  /** What the look has asked of the form's counts already. */
  readonly counts?: CountsRecord;
}

/** A form, with what a look found to do. */
export interface LookedPlan extends FormPlan {
  readonly visits: readonly Visit[];
  /** Rows wait to be marked, though no pass is needed. */
  readonly mark: boolean;
}

/** What a look found. */
export interface LookReport {
  readonly forms: readonly LookedPlan[];
  /** Forms that need no pass into a target, each as a pass that found nothing new. */
  readonly settled: readonly PassReport[];
  /** Of each target it is known what the workspace has besides its forms: the next look costs the least. */
  readonly knowsOthers: boolean;
  readonly requests: number;
  readonly ms: number;
}

/** How long a target may take to say what it holds; one that takes longer has its forms visited (L12). */
export const TARGET_WAIT_MS = 15_000;
/** The same where a person waits: a sheet takes a second or two for each form. */
const BY_HAND_WAIT_MS = 300_000;
/** Forms of a metered target whose rows a look reads: what people removed there is found within some looks. */
const FORMS_READ_A_LOOK = 2;

/**
 * One look: asks the workspace as a whole, and finds which forms of which targets need a pass. It needs no memory of its
 * own: what it compares with is what the targets hold. Rejects with CANCELLED, and with FORMS_UNAUTHORIZED where the key
 * is refused; whatever else can't be judged is visited.
 */
export async function look(
  context: SyncContext,
  request: LookRequest,
  signal: AbortSignal,
): Promise<LookReport> {
  const report = await new Look(context, request, signal).run();
  for (const settled of request.isClosing === true ? [] : report.settled) {
    withLogFields({ passId: settled.passId }, () => context.events.emit('pass.ended', settled));
  }
  return report;
}

interface Judged extends Pick<Verdict, 'visits' | 'uncounted' | 'isTorn'> {
  readonly others: OtherCounts | null;
}

/** Nothing is accounted for, of these targets' forms and, as far as is known, of others. */
const isEmpty = (looked: Iterable<LookedTarget>): boolean =>
  [...looked].every(({ settled, lastLook }) => {
    const accounted = sumOf([...settled.values()].map((form) => form.accounted));
    return accounted.size + (lastLook?.others?.total ?? 0) === 0;
  });

/** No pass is to visit it: it is paused there, or was found gone, whoever found that, and is not listed since. */
const isLeft = ({ form, listed }: FormPlan, { isPaused, gone }: LookedTarget): boolean =>
  isPaused(form.id) || (listed === null && gone.has(form.id));

class Look {
  readonly #context: SyncContext;
  readonly #request: LookRequest;
  readonly #signal: AbortSignal;
  readonly #source: SourceReading;
  readonly #startedMs: number;

  constructor(context: SyncContext, request: LookRequest, signal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#source = new SourceReading(context, signal, this.#turns);
    this.#startedMs = context.clock.now();
  }

  async run(): Promise<LookReport> {
    const { forms, targets } = this.#request;
    const { labels } = this.#context;
    for (const { form, listed } of forms) {
      if (listed === null) labels.forget(form.id);
      else labels.follow(listed);
    }
    const looked = new Map<string, LookedTarget>();
    await Promise.all(
      targets.map(async (target) => {
        const found = await this.#inTime(target);
        if (found !== undefined) looked.set(target.name, found);
      }),
    );
    throwIfAborted(this.#signal);
    const verdicts = await this.#judge(looked);
    for (const [name, verdict] of verdicts) {
      const target = looked.get(name);
      if (target !== undefined && !(await this.#record(target, verdict))) {
        verdicts.delete(name);
      }
    }
    return this.#report(looked, verdicts);
  }

  async #inTime(target: LookTarget): Promise<LookedTarget | undefined> {
    const waitMs = this.#request.isByHand === true ? BY_HAND_WAIT_MS : TARGET_WAIT_MS;
    let isLate = false;
    const asked = this.#lookAt(target, () => isLate);
    const found = await withinTime(asked, waitMs, this.#context.clock);
    isLate = true;
    return found;
  }

  /** Undefined where the target does not say what it holds: the passes say why. */
  async #lookAt(
    { name, storing, open }: LookTarget,
    isLate: () => boolean,
  ): Promise<LookedTarget | undefined> {
    if (storing === undefined) return undefined;
    const forms = this.#plannedFor(name).flatMap(({ listed }) => listed ?? []);
    const { requireNames, isByHand = false, turns } = this.#request;
    try {
      return await lookAtTarget(await open(), {
        forms,
        storing,
        marking: this.#marking(),
        requireNames: (form) => requireNames(name, form, this.#signal),
        rowsOf: isByHand ? Infinity : turns === undefined ? 0 : FORMS_READ_A_LOOK,
        turns: turns ?? new Turns(),
        isLate,
      });
    } catch (error) {
      if (isAbort(error)) throw error;
      this.#context.logger.debug(
        { target: name, err: error },
        'The target could not be looked at.',
      );
      return undefined;
    }
  }

  /** A person who waits wants to know of all forms. */
  get #turns(): Turns | undefined {
    return this.#request.isByHand === true ? undefined : this.#request.turns;
  }

  #plannedFor(target: string): FormPlan[] {
    return this.#request.forms.filter(({ targets }) => targets.includes(target));
  }

  /** What is paused there is like a form that is not mirrored: it is counted among the others, and looked at anew afterwards. */
  #plannedIds(looked: LookedTarget): Set<string> {
    const plans = this.#plannedFor(looked.target.name).filter((plan) => !isLeft(plan, looked));
    return new Set(plans.map(({ form }) => form.id));
  }

  #marking(): MarkingRules | undefined {
    const { marking } = this.#request;
    if (marking === undefined) return undefined;
    const since = new Date(this.#startedMs - REFUSAL_LASTS_MS).toISOString();
    return { from: marking.from, refused: { wanted: marking.status, since } };
  }

  async #judge(looked: ReadonlyMap<string, LookedTarget>): Promise<Map<string, Judged>> {
    const hasSettled = [...looked.values()].some(({ settled }) => settled.size > 0);
    let workspace: Workspace = { counts: null, pages: [] };
    if (hasSettled) workspace = await this.#source.workspace(isEmpty(looked.values()));
    const verdicts = new Map<string, Judged>();
    for (const [name, target] of looked) {
      if (target.isLeftAlone) continue;
      const judged = await this.#judgeOn(target, workspace);
      workspace = judged.workspace;
      const { verdict } = judged;
      const others = this.#othersOf(target, verdict, workspace.pages[0] ?? null);
      const { by, visits, uncounted, isTorn = false } = verdict;
      verdicts.set(name, { visits, uncounted, others, isTorn });
      const found = { target: name, by, forms: visits.size, requests: this.#source.requests };
      this.#context.logger.debug(found, 'Looked.');
    }
    return verdicts;
  }

  /** Reads the workspace again, or its list on, as long as that is worth it. */
  async #judgeOn(
    target: LookedTarget,
    workspace: Workspace,
  ): Promise<{ verdict: Verdict; workspace: Workspace }> {
    let now = workspace;
    let may: MayAsk = { again: true, pages: workspace.pages.length > 1 ? 'no' : 'yes' };
    for (;;) {
      const verdict = await this.#judgeOne(target, now, may);
      if (typeof verdict === 'object') return { verdict, workspace: now };
      const isToReadOn = verdict !== 'again';
      const pages = isToReadOn && (await this.#source.readOn(now.pages, verdict));
      if (pages) {
        now = { counts: now.counts, pages };
        may = { again: may.again, pages: 'uncounted' };
      } else if (isToReadOn && may.pages === 'yes') {
        may = { again: may.again, pages: 'no' };
      } else {
        now = await this.#again(now);
        may = { again: false, pages: may.pages === 'uncounted' ? 'no' : may.pages };
      }
    }
  }

  /** The workspace read again. What its list showed before stands: newcomers may have pushed something off the newest page. */
  async #again({ pages: before }: Workspace): Promise<Workspace> {
    const { counts, pages } = await this.#source.workspace(false);
    if (before.length < 2 || pages.length === 0) return { counts, pages };
    return { counts, pages: [...pages, ...before] };
  }

  async #judgeOne(
    target: LookedTarget,
    { counts, pages }: Workspace,
    may: MayAsk,
  ): Promise<Verdict | ToAsk> {
    const planned = this.#plannedIds(target);
    const facts = await factsOf(target, planned, pages, false);
    const isQuiet = facts.unsettled.length === 0 && counts !== null && facts.others !== null;
    const expected = sumOf([
      ...facts.settled.values(),
      ...facts.shown.values(),
      facts.others ?? NO_COUNTS,
    ]);
    const difference = minusCounts(counts ?? NO_COUNTS, expected);
    // Only where it may explain something: a target may have to read whole rows for it.
    const isDeep = !isQuiet || difference.size + facts.elsewhere.size > 0;
    const all = isDeep ? await factsOf(target, planned, pages, true) : facts;
    return judge(all, counts, this.#source, may);
  }

  /** What is to be known of others from now on, with the page that it goes with. */
  #othersOf(
    target: LookedTarget,
    { others, page: which }: Verdict,
    shown: NewestPage | null,
  ): OtherCounts | null {
    if (others === null) return null;
    const planned = this.#plannedIds(target);
    const { lastLook } = target;
    const rest = { total: totalOf(others), statuses: others, besides: formsPrint(planned) };
    if (which === 'before') return { ...rest, newest: othersOf(lastLook, planned)?.newest ?? null };
    return { ...rest, newest: shown && foreignPage(shown, planned) };
  }

  /** False when the target can't keep it: then its forms are visited, and the passes say why. */
  async #record(looked: LookedTarget, judged: Judged): Promise<boolean> {
    if (this.#request.dryRun === true) return true;
    const { target, held, settled, lastLook } = looked;
    const { visits, others, uncounted, isTorn = false } = judged;
    const at = new Date(this.#startedMs).toISOString();
    const withheld = await this.#withheldOf(looked, visits);
    try {
      // Of forms that were not planned here, another process's perhaps, nothing was found.
      const unjudged = held.filter((formId) => isTorn || !settled.has(formId));
      const differing = [...visits].flatMap(([id, { compareCounts }]) =>
        compareCounts ? [id] : [],
      );
      const open = [...visits.keys(), ...unjudged];
      const times = [...uncounted].filter((formId) => !visits.has(formId));
      await target.recordLook({
        at,
        open,
        differing,
        others,
        uncounted: new Map(times.map((formId) => [formId, countedAt(lookOf(lastLook, formId))])),
        ...(withheld.size > 0 && { withheld }),
      });
      return true;
    } catch (error) {
      if (isAbort(error)) throw error;
      const about = { target: target.name, err: error };
      this.#context.logger.debug(about, 'The target could not keep what a look found.');
      return false;
    }
  }

  /**
   * Of forms whose deletions are withheld, what both sides have: if a pass that begins now leaves it at that, the next look has
   * nothing to do for them.
   */
  async #withheldOf(
    { withheld, lastLook }: LookedTarget,
    visits: Judged['visits'],
  ): Promise<Map<string, WithheldForm>> {
    const forms = new Map<string, WithheldForm>();
    for (const [formId, copy] of withheld) {
      const before = lastLook?.withheld?.get(formId);
      if (!visits.has(formId) && before !== undefined) {
        forms.set(formId, before);
        continue;
      }
      const counted = await this.#source.countsOf(formId);
      if (counted === undefined || counted === 'unasked') continue;
      const askedAt = new Date(this.#context.clock.now()).toISOString();
      forms.set(formId, { source: counted.counts, ...copy, askedAt });
    }
    return forms;
  }

  #report(
    looked: ReadonlyMap<string, LookedTarget>,
    verdicts: ReadonlyMap<string, Judged>,
  ): LookReport {
    const ms = this.#context.clock.now() - this.#startedMs;
    const startedAt = new Date(this.#startedMs).toISOString();
    const times = { startedAt, endedAt: new Date(this.#startedMs + ms).toISOString() };
    const settled: PassReport[] = [];
    const forms = this.#request.forms.map((plan): LookedPlan => {
      const visits: Visit[] = [];
      let mark = false;
      const paused = plan.targets.filter((target) => looked.get(target)?.isPaused(plan.form.id));
      for (const target of plan.targets) {
        const found = looked.get(target);
        if (found !== undefined && isLeft(plan, found)) continue;
        const verdict = verdicts.get(target);
        const form = found?.settled.get(plan.form.id);
        const visit = verdict?.visits.get(plan.form.id);
        if (verdict === undefined || form === undefined || visit !== undefined) {
          visits.push({ target, compareCounts: visit?.compareCounts ?? false });
          continue;
        }
        mark ||= form.toMark;
        if (verdict.isTorn === true) continue;
        const isCounted = !verdict.uncounted.has(plan.form.id);
        settled.push(settledReport(plan.form, target, form, { ...times, isCounted }));
      }
      // Nothing is durable in every target while one of them is left alone (L7).
      return { ...plan, visits, mark: mark && paused.length === 0 };
    });
    const knowsOthers = this.#request.targets.every(
      ({ name }) =>
        looked.get(name)?.isLeftAlone === true || (verdicts.get(name)?.others ?? null) !== null,
    );
    return { forms, settled, knowsOthers, requests: this.#source.requests, ms };
  }
}
