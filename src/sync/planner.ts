import { type Clock, withinTime } from '../base/clock.ts';
import { isAbort, MirrorError, toMirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { namesWholeForm } from '../mirror/picks.ts';
import { BoundSlugs } from './bound-slugs.ts';
import { choosesForm } from './form-choice.ts';
import { Holdings } from './holdings.ts';
import type { Target } from './target.ts';
import {
  type KnownNames,
  mayConcern,
  type NamingSettings,
  searchedName,
  type UnmatchedName,
  unmatchedNames,
  unmatchedSentence,
} from './unmatched-names.ts';

/** A form and the names of the targets that mirror it. */
export interface FormPlan {
  readonly form: FormIdentity;
  readonly targets: readonly string[];
  /** As the list of forms shows it; null when it is mirrored and no longer listed. */
  readonly listed: Form | null;
}

/** Which forms go into which targets. */
export interface MirrorPlan {
  readonly forms: readonly FormPlan[];
  /**
   * Names in the settings that match nothing, as far as that is certain: with a target that does not answer, a name may be
   * in its forms. The other forms go on (L12), but the mirror differs from the settings.
   */
  readonly unmatched: readonly UnmatchedName[];
}

/** What this process planned last. */
export interface PlanStatus {
  /** The last plan that succeeded, and when (ISO); null: none yet. */
  readonly plan: MirrorPlan | null;
  readonly at: string | null;
  /** Why the last attempt failed; null when it did not. */
  readonly problem: { readonly error: MirrorError; readonly at: string } | null;
}

/** How to plan. */
export interface PlanningOptions {
  /** Every target is first asked for its forms. */
  readonly waitForTargets?: boolean;
  /** For names that match nothing, and no runs: no target is asked while the source knows all names, nor waited for long. */
  readonly namesOnly?: boolean;
  /** Of a list of forms on several pages one is read, in turn, where that shows no form come or gone. */
  readonly inTurn?: boolean;
}

export interface PlannerOptions {
  readonly targets: readonly NamingSettings[];
  /** `inTurn`: may read only one page of the list; the others come from the last listing. */
  readonly listForms: (
    signal: AbortSignal,
    options?: Pick<PlanningOptions, 'inTurn'>,
  ) => Promise<readonly Form[]>;
  /** Which of these fields old answers still carry: see `answer-search.ts`. */
  readonly searchAnswers: (
    forms: readonly Form[],
    fieldIds: ReadonlySet<string>,
    signal: AbortSignal,
  ) => Promise<ReadonlySet<string>>;
  readonly openTarget: (name: string) => Promise<Target>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a list of forms serves to look up names in it. */
const LIST_TTL_MS = 30_000;

/** How long a plan waits for targets that could know a name which the source does not. */
const NAMES_WAIT_MS = 2_000;
/** The same where a person asks for names. */
const LONG_NAMES_WAIT_MS = 20_000;

/** Decides which forms go into which targets. */
export class Planner {
  readonly #options: PlannerOptions;
  /** Forms that a target holds or held: when one is no longer listed, a run has to find out why. */
  readonly #holdings: Holdings;
  /** Which forms the settings mean by their names. */
  readonly slugs: BoundSlugs;
  /** Field IDs that were looked for in old answers, and those of them that were found. */
  readonly #searched = new Set<string>();
  readonly #inAnswers = new Set<string>();
  /** The forms as last listed, and every name that each form had since this process began. */
  #listed: { readonly forms: readonly Form[]; readonly atMs: number } | undefined;
  readonly #named = new Map<string, FormIdentity>();
  #status: PlanStatus = { plan: null, at: null, problem: null };

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.slugs = new BoundSlugs(options);
    this.#holdings = new Holdings(options);
  }

  get status(): PlanStatus {
    return this.#status;
  }

  /**
   * A new plan. A form that was mirrored and is no longer listed stays in the plan until a run has found it gone (L8), so
   * that people learn of it. With `waitForTargets` every target is first asked for its forms; otherwise that happens
   * at the same time, for the next plan, and no target can delay this one (L12). Rejects as `listForms` does.
   */
  async plan(signal: AbortSignal, options: PlanningOptions = {}): Promise<MirrorPlan> {
    const at = (): string => new Date(this.#options.clock.now()).toISOString();
    try {
      const plan = await this.#plan(signal, options);
      this.#status = { plan, at: at(), problem: null };
      return plan;
    } catch (error) {
      if (!isAbort(error)) {
        this.#status = { ...this.#status, problem: { error: toMirrorError(error), at: at() } };
      }
      throw error;
    }
  }

  /** Drops a form from the next plans: a run into `target` has found it gone and recorded that. */
  dropGone(target: string, formId: string): void {
    this.#holdings.mirrored(target).delete(formId);
  }

  /**
   * Throws where nothing of `form` may be stored in `target`: SLUG_REUSED as {@link BoundSlugs.require} does, and SETTINGS while
   * a name in TARGET_HASH_FIELDS matches nothing and may mean answers of it. `form`: as the run that is about to store it
   * sees it; `keep`: it is about to. Rejects as `listForms` and the target do.
   */
  async requireNames(
    target: string,
    form: Form,
    signal: AbortSignal,
    keep: boolean,
  ): Promise<void> {
    await this.slugs.require(target, form, keep);
    const settings = this.#options.targets.find(({ name }) => name === target);
    const hashed = settings && this.slugs.settingsById(settings).picks?.hashed;
    if (settings === undefined || hashed === undefined || namesWholeForm(hashed, form)) return;
    // No name, no mistake in one.
    if (hashed.forms.size + hashed.fields.size + hashed.fieldsOfForms.size === 0) return;
    const held = await this.#holdings.requireForms(target);
    const listed = await this.listedForms(signal);
    const known = (forms: readonly Form[], more: ReadonlySet<string>): KnownNames => ({
      forms: [...forms.filter(({ id }) => id !== form.id), form],
      held: [...held, ...this.#named.values()],
      fields: more,
      ids: this.slugs.ids,
    });
    const open = (names: KnownNames): UnmatchedName[] =>
      unmatchedNames([settings], names).filter(
        (each) => each.variable === settings.variables.hashFields && mayConcern(each, form, names),
      );
    const first = known(listed, this.#inAnswers);
    if (open(first).length > 0) {
      const isOld = this.#options.clock.now() - (this.#listed?.atMs ?? 0) > LIST_TTL_MS;
      const forms = isOld ? await this.#list(signal) : listed;
      await this.#holdings.lookUpFields(target);
      const fields = this.#holdings.fields([target]) ?? new Set<string>();
      await this.#search(forms, open(known(forms, fields)), signal);
      const [mistake] = open(known(forms, fields.union(this.#inAnswers)));
      if (mistake !== undefined) throw heldBack(mistake, form, target);
    }
    this.#noteNames([form]);
  }

  /** The forms as last listed. Rejects as `listForms` does. */
  async listedForms(signal: AbortSignal): Promise<readonly Form[]> {
    return this.#listed?.forms ?? (await this.#list(signal));
  }

  async #list(
    signal: AbortSignal,
    options: Pick<PlanningOptions, 'inTurn'> = {},
  ): Promise<readonly Form[]> {
    const forms = await this.#options.listForms(signal, options);
    const now = this.#options.clock.now();
    // The forms of other pages come from an earlier listing, so its age stays.
    this.#listed = { forms, atMs: options.inTurn === true ? (this.#listed?.atMs ?? now) : now };
    this.#noteNames(forms);
    return forms;
  }

  #noteNames(forms: readonly FormIdentity[]): void {
    this.slugs.noteForms(forms);
    for (const { id, slug, name } of forms) this.#named.set(`${id}\n${slug}`, { id, slug, name });
  }

  async #plan(
    signal: AbortSignal,
    { waitForTargets = false, namesOnly = false, inTurn = false }: PlanningOptions,
  ): Promise<MirrorPlan> {
    const { targets } = this.#options;
    const listed = await this.#list(signal, { inTurn });
    const asked = namesOnly ? [] : targets;
    const lookups = asked.map(({ name }) => this.#lookUp(name));
    if (waitForTargets) await Promise.all(lookups);
    const shown = new Map(listed.map((form) => [form.id, form]));
    const plans = new Map<string, FormPlan & { targets: string[] }>();
    for (const settings of targets) {
      const { name: target } = settings;
      const { forms } = this.slugs.settingsById(settings);
      const mirrored = this.#holdings.mirrored(target);
      const known = new Map([...mirrored, ...listed.map((form) => [form.id, form] as const)]);
      for (const { id, slug, name } of known.values()) {
        // Its runs report why it is not copied.
        const isReused = this.slugs.reusedFrom(target, { id, slug }) !== null;
        if (!choosesForm(forms, { id, slug }) && !isReused) continue;
        const form = { id, slug, name };
        const plan = plans.get(id) ?? { form, targets: [], listed: shown.get(id) ?? null };
        plan.targets.push(target);
        plans.set(id, plan);
        mirrored.set(id, plan.form);
      }
    }
    const shortMs = namesOnly ? LONG_NAMES_WAIT_MS : NAMES_WAIT_MS;
    const waitMs = waitForTargets ? null : shortMs;
    const unmatched = await this.#unmatched(listed, waitMs, signal);
    return { forms: [...plans.values()], unmatched };
  }

  /** Asks a target once which forms it holds, and which of them slugs mean. Never rejects. */
  async #lookUp(target: string): Promise<void> {
    await this.#holdings.lookUpForms(target);
    await this.slugs.load(target).catch((error: unknown) => {
      const about = { target, err: error };
      this.#options.logger.debug(about, 'The target did not say which forms slugs mean.');
    });
  }

  /** Asks no target and reads no answer while the forms of the workspace have every name. `waitMs`: null for as long as it takes. */
  async #unmatched(
    forms: readonly Form[],
    waitMs: number | null,
    signal: AbortSignal,
  ): Promise<UnmatchedName[]> {
    const { targets, clock } = this.#options;
    const names = targets.map(({ name }) => name);
    const before = [...this.#named.values(), ...(this.#holdings.forms(names) ?? [])];
    const known = { forms, held: before, fields: this.#inAnswers, ids: this.slugs.ids };
    if (unmatchedNames(targets, known).length === 0) return [];
    const lookups = Promise.all(
      names.flatMap((name) => [this.#lookUp(name), this.#holdings.lookUpFields(name)]),
    );
    await (waitMs === null ? lookups : withinTime(lookups, waitMs, clock));
    const [held, fields] = [this.#holdings.forms(names), this.#holdings.fields(names)];
    if (held === null || fields === null || !names.every((name) => this.slugs.isLoaded(name))) {
      return [];
    }
    const namesKnown = (): KnownNames => ({
      forms,
      held: [...before, ...held],
      fields: fields.union(this.#inAnswers),
      ids: this.slugs.ids,
    });
    if (!(await this.#search(forms, unmatchedNames(targets, namesKnown()), signal))) return [];
    return unmatchedNames(targets, namesKnown());
  }

  /** Looks for fields in old answers, once for each field; false when the answers could not be read. */
  async #search(
    forms: readonly Form[],
    unmatched: readonly UnmatchedName[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const names = unmatched
      .filter(({ kind }) => kind === 'field')
      .map(({ name }) => searchedName(name, { forms, ids: this.slugs.ids }));
    const wanted = new Set(names).difference(this.#searched);
    if (wanted.size === 0) return true;
    try {
      for (const id of await this.#options.searchAnswers(forms, wanted, signal)) {
        this.#inAnswers.add(id);
      }
    } catch (error) {
      if (isAbort(error)) throw error;
      this.#options.logger.debug({ err: error }, 'The old answers could not be searched.');
      return false;
    }
    for (const id of wanted) this.#searched.add(id);
    return true;
  }
}

/** Why a run stores nothing. */
function heldBack(mistake: UnmatchedName, form: FormIdentity, target: string): MirrorError {
  return new MirrorError(
    'SETTINGS',
    `${unmatchedSentence(mistake)} It may mean answers of form "${form.name}" (${form.id}), so nothing of that form is ` +
      `stored in target ${target} until the name is put right.`,
  );
}

/** The names in the settings that match nothing, as sentences. */
export const planWarnings = ({ unmatched }: MirrorPlan): string[] =>
  unmatched.map(unmatchedSentence);
