import { type Clock, withinTime } from '../base/clock.ts';
import { isAbort, MirrorError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { namesWholeForm, selectionById } from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { bindSlug, SLUGS } from './records.ts';
import { heldForms, type Target } from './target.ts';
import {
  choosesForm,
  formNames,
  type KnownNames,
  mayConcern,
  type NamingSettings,
  searchedName,
  slugReused,
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
   * Names in the settings that match nothing, as far as that is certain: while a target does not answer, a name may
   * belong to one of its forms. The other forms continue (L12), but the mirror differs from the settings.
   */
  readonly unmatched: readonly UnmatchedName[];
}

/** What this process planned last. */
export interface PlanStatus {
  /** The last plan that succeeded, and when (ISO); null: none yet. */
  readonly plan: MirrorPlan | null;
  readonly at: string | null;
}

/** How to plan. */
export interface PlanningOptions {
  /** Every target is waited for; otherwise a moment at most, so that no target delays the others (L12). */
  readonly waitForTargets?: boolean;
  /** Of a list of forms on several pages one is read, in turn, where that shows no form come or gone. */
  readonly inTurn?: boolean;
}

export interface PlannerOptions {
  readonly targets: readonly NamingSettings[];
  /** `inTurn`: may read only one page of the list; the others come from the last listing. */
  readonly listForms: (
    signal: AbortSignal,
    options: Pick<PlanningOptions, 'inTurn'>,
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

/** The names that a target knows. */
interface KnownTarget {
  /** Forms that it holds, gone ones included. */
  readonly forms: Awaited<ReturnType<typeof heldForms>>;
  /** Fields of its catalogue, each as its ID and as `<form ID>:<field ID>`. */
  readonly fields: ReadonlySet<string>;
  /** IDs of forms by the slug that first named them in the settings. */
  readonly slugs: Map<string, string>;
  readonly atMs: number;
}

/** How long a list of forms serves to look up names in it. */
const LIST_TTL_MS = 30_000;
/** How long the names from a target are valid: runs, which are other jobs, add forms and fields to it. */
const TARGET_TTL_MS = 5 * 60_000;
/** How long a plan waits for targets that do not answer. */
const TARGET_WAIT_MS = 2_000;

/**
 * Decides which forms go into which targets by their names: those of listed forms, those of forms in targets, and
 * the slugs that the settings are bound to (L11). A form continues under any new slug; another form that gets its
 * slug is not the one in the settings.
 */
export class Planner {
  readonly #options: PlannerOptions;
  /** As each target said last. */
  readonly #known = new Map<string, KnownTarget>();
  /** Field IDs that were looked for in old answers, and those of them that were found. */
  readonly #searched = new Set<string>();
  readonly #inAnswers = new Set<string>();
  /** The forms as last listed, and every name that each form had since this process began. */
  #listed: { readonly forms: readonly Form[]; readonly atMs: number } | undefined;
  readonly #named = new Map<string, FormIdentity>();
  /** IDs of forms by the names in the settings, as first listed. */
  readonly #meant = new Map<string, string>();
  #status: PlanStatus = { plan: null, at: null };

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  get status(): PlanStatus {
    return this.#status;
  }

  /**
   * A new plan. A form that was mirrored and is no longer listed stays in the plan until a run has found it gone (L8), so
   * that people learn of it. Rejects as `listForms` does.
   */
  async plan(signal: AbortSignal, options: PlanningOptions = {}): Promise<MirrorPlan> {
    const plan = await this.#plan(signal, options);
    this.#status = { plan, at: new Date(this.#options.clock.now()).toISOString() };
    return plan;
  }

  /** Asks a target for the names that it knows, unless it answered a moment ago. Rejects as the target does. */
  async read(target: string, maxAgeMs = TARGET_TTL_MS): Promise<KnownTarget> {
    const { openTarget, clock } = this.#options;
    const before = this.#known.get(target);
    if (before !== undefined && clock.now() - before.atMs < maxAgeMs) return before;
    const { store } = await openTarget(target);
    const fields = new Set<string>();
    const states = await store.states();
    for (const { state, fields: some } of states)
      for (const { id } of some) fields.add(id).add(`${state.formId}:${id}`);
    const slugs = new Map(Object.entries(await SLUGS.read(store)));
    const known = { forms: await heldForms({ store }), fields, slugs, atMs: clock.now() };
    this.#known.set(target, known);
    return known;
  }

  /** A run has changed which forms a target holds: it is asked again. */
  expire(target: string): void {
    const known = this.#known.get(target);
    if (known !== undefined) this.#known.set(target, { ...known, atMs: -Infinity });
  }

  /** The settings of a target, with each form by its ID where it is known which one is meant. */
  settingsById<T extends NamingSettings>(settings: T): T {
    const ids = this.#idsFor(settings);
    const { forms, selection } = settings;
    return {
      ...settings,
      forms: forms === '*' ? forms : forms.map((name) => ids.get(name) ?? name),
      selection: selection && selectionById(selection, ids),
    };
  }

  /**
   * The ID of the form that the slug of `form` means in the settings of a target, where that is another one and nothing in these
   * settings means `form` itself; null where all is well.
   */
  reusedFrom(target: string, form: Pick<FormIdentity, 'id' | 'slug'>): string | null {
    const settings = this.#settings(target);
    if (settings === undefined || !formNames(settings).has(form.slug)) return null;
    const ids = this.#idsFor(settings);
    const meant = ids.get(form.slug) ?? form.id;
    const isMeant = [...formNames(settings)].some((name) => (ids.get(name) ?? name) === form.id);
    return meant === form.id || isMeant ? null : meant;
  }

  /** SLUG_REUSED where {@link reusedFrom} returns a form, as far as is known now; null otherwise. */
  problemOf(target: string, form: FormIdentity): MirrorError | null {
    const settings = this.#settings(target);
    const first = this.reusedFrom(target, form);
    return first === null || settings === undefined ? null : slugReused(settings, form, first);
  }

  /**
   * Throws where nothing of `form` may be stored in `target`: SLUG_REUSED where its slug means another form, and SETTINGS while
   * a name in TARGET_HASH_FIELDS matches nothing and may mean answers of it. `form`: as the run that is about to store it
   * sees it; `keep`: it is about to, so the target keeps which form its slug means. Rejects as `listForms` and the target do.
   */
  async requireNames(
    target: string,
    form: Form,
    signal: AbortSignal,
    keep: boolean,
  ): Promise<void> {
    const settings = this.#settings(target);
    if (settings === undefined) return;
    const { slugs } = await this.read(target);
    const refuseReused = (): void => {
      const problem = this.problemOf(target, form);
      if (problem !== null) throw problem;
    };
    this.#note([form]);
    refuseReused();
    const isMeant = this.#idsFor(settings).get(form.slug) === form.id && form.slug !== form.id;
    if (keep && isMeant && !slugs.has(form.slug)) {
      const { store } = await this.#options.openTarget(target);
      slugs.set(form.slug, await bindSlug(store, form.slug, form.id));
      // Another process may have kept another form.
      refuseReused();
    }
    const hashed = this.settingsById(settings).selection?.hashed;
    if (hashed === undefined || namesWholeForm(hashed, form)) return;
    const unmatched = (forms: readonly Form[]): UnmatchedName[] => {
      const names = this.#names([...forms.filter(({ id }) => id !== form.id), form]);
      return unmatchedNames([settings], names).filter(
        (each) => each.variable === settings.variables.hashFields && mayConcern(each, form, names),
      );
    };
    if (unmatched(await this.listedForms(signal)).length === 0) return;
    const isOld = this.#options.clock.now() - (this.#listed?.atMs ?? 0) > LIST_TTL_MS;
    const forms = isOld ? await this.#list(signal) : await this.listedForms(signal);
    await this.read(target, LIST_TTL_MS);
    await this.#search(forms, unmatched(forms), signal);
    const [mistake] = unmatched(forms);
    if (mistake !== undefined) throw heldBack(mistake, form, target);
  }

  /** The forms as last listed. Rejects as `listForms` does. */
  async listedForms(signal: AbortSignal): Promise<readonly Form[]> {
    return this.#listed?.forms ?? (await this.#list(signal));
  }

  async #list(signal: AbortSignal, inTurn = false): Promise<readonly Form[]> {
    const forms = await this.#options.listForms(signal, { inTurn });
    const now = this.#options.clock.now();
    // The forms of other pages come from an earlier listing, so its age stays.
    this.#listed = { forms, atMs: inTurn ? (this.#listed?.atMs ?? now) : now };
    this.#note(forms);
    return forms;
  }

  /** Notes the names of forms, and what names in the settings mean that meant nothing before. An ID goes before a slug. */
  #note(forms: readonly FormIdentity[]): void {
    for (const { id, slug, name } of forms) this.#named.set(`${id}\n${slug}`, { id, slug, name });
    for (const name of this.#options.targets.flatMap((settings) => [...formNames(settings)])) {
      const form = forms.find(({ id }) => id === name) ?? forms.find(({ slug }) => slug === name);
      if (form !== undefined && !this.#meant.has(name)) this.#meant.set(name, form.id);
    }
  }

  async #plan(
    signal: AbortSignal,
    { waitForTargets = false, inTurn = false }: PlanningOptions,
  ): Promise<MirrorPlan> {
    const { targets, clock, logger } = this.#options;
    const listed = await this.#list(signal, inTurn);
    const answers = Promise.all(
      targets.map(({ name }) =>
        this.read(name).catch((error: unknown) =>
          logger.debug({ target: name, err: error }, 'The target did not list its forms.'),
        ),
      ),
    );
    await (waitForTargets ? answers : withinTime(answers, TARGET_WAIT_MS, clock));
    const shown = new Map(listed.map((form) => [form.id, form]));
    const plans = new Map<string, FormPlan & { targets: string[] }>();
    for (const settings of targets) {
      const { name: target } = settings;
      const { forms } = this.settingsById(settings);
      const held = (this.#known.get(target)?.forms ?? []).filter(
        ({ goneAtMs }) => goneAtMs === null,
      );
      const known = new Map([...held, ...listed].map((form) => [form.id, form]));
      for (const { id, slug, name } of known.values()) {
        // Its runs report why it is not copied.
        const isReused = this.reusedFrom(target, { id, slug }) !== null;
        if (!choosesForm(forms, { id, slug }) && !isReused) continue;
        const form = { id, slug, name };
        const plan = plans.get(id) ?? { form, targets: [], listed: shown.get(id) ?? null };
        plan.targets.push(target);
        plans.set(id, plan);
      }
    }
    return { forms: [...plans.values()], unmatched: await this.#unmatched(listed, signal) };
  }

  /** Reads no answer while the forms of the workspace and the targets have every name. */
  async #unmatched(forms: readonly Form[], signal: AbortSignal): Promise<UnmatchedName[]> {
    const { targets } = this.#options;
    const unmatched = unmatchedNames(targets, this.#names(forms));
    const isCertain = targets.every(({ name }) => this.#known.has(name));
    if (unmatched.length === 0 || !isCertain) return [];
    return (await this.#search(forms, unmatched, signal))
      ? unmatchedNames(targets, this.#names(forms))
      : [];
  }

  /** All names that are known. */
  #names(forms: readonly Form[]): KnownNames {
    const known = [...this.#known.values()];
    return {
      forms,
      held: [...this.#named.values(), ...known.flatMap((target) => target.forms)],
      fields: known.reduce((all, { fields }) => all.union(fields), this.#inAnswers),
      ids: new Map(this.#options.targets.flatMap((settings) => [...this.#idsFor(settings)])),
    };
  }

  /**
   * IDs of forms by the names in the settings of a target: as the target stores them, or another target, or as first
   * listed.
   */
  #idsFor(settings: NamingSettings): Map<string, string> {
    const own = this.#known.get(settings.name);
    const kept = [own, ...this.#known.values()].map((known) => known?.slugs ?? new Map());
    return new Map(
      [...formNames(settings)].flatMap((name): [string, string][] => {
        const id = [...kept, this.#meant].find((ids) => ids.has(name))?.get(name);
        return id === undefined ? [] : [[name, id]];
      }),
    );
  }

  #settings(target: string): NamingSettings | undefined {
    return this.#options.targets.find(({ name }) => name === target);
  }

  /** Looks for fields in old answers, once for each field; false when the answers could not be read. */
  async #search(
    forms: readonly Form[],
    unmatched: readonly UnmatchedName[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const names = unmatched
      .filter(({ kind }) => kind === 'field')
      .map(({ name }) => searchedName(name, this.#names(forms)));
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
