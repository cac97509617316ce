import { type Clock, withinTime } from '../base/clock.ts';
import { mistakeText, MirrorError, type SettingMistake } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import {
  choosesForm,
  formNames,
  type KnownNames,
  mistakesIn,
  type NamingSettings,
  settingsById,
  slugReused,
  unhashed,
} from './names.ts';
import { SLUGS } from './records.ts';
import type { Target } from './target.ts';

/** A form in a target. */
export interface Place {
  readonly form: FormIdentity;
  readonly target: string;
}

/** Which forms go into which targets. */
export interface MirrorPlan {
  /** The places of a form come together. */
  readonly places: readonly Place[];
  /** All forms of the workspace. */
  readonly listed: readonly Form[];
  /**
   * Mistakes in the names in the settings that are certain: while a target does not answer, a name may belong to one of its forms.
   * The other forms continue (L12), but the mirror differs from the settings.
   */
  readonly unmatched: readonly SettingMistake[];
  readonly atMs: number;
  /** By form ID: since when every plan of this process has had the form. */
  readonly sinceMs: ReadonlyMap<string, number>;
}

/** How to plan. */
export interface PlanningOptions {
  /** Waits for every target; otherwise for a moment at most, so that no target delays the others (L12). */
  readonly waitForTargets?: boolean;
  /** If the list of forms has several pages, reads one page in turn, unless that page shows that forms came or went. */
  readonly inTurn?: boolean;
}

export interface PlannerOptions {
  readonly targets: readonly NamingSettings[];
  /** `inTurn`: may read only one page of the list; the others come from the last listing. */
  readonly listForms: (
    signal: AbortSignal,
    options: Pick<PlanningOptions, 'inTurn'>,
  ) => Promise<readonly Form[]>;
  readonly openTarget: (name: string) => Promise<Pick<Target, 'store'>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The names that a target knows. */
interface KnownTarget {
  /** Forms that it has, including gone ones, with the fields of its catalogue. */
  readonly forms: readonly (Form & { readonly goneAtMs: number | null })[];
  /** IDs of forms by the slug that first named them in the settings. */
  readonly slugs: Map<string, string>;
  readonly atMs: number;
}

/** How long the names from the list of forms, or from a target, are valid: runs and people add forms and fields. */
const NAMES_TTL_MS = 5 * 60_000;
/** How long a plan waits for targets that do not answer. */
const TARGET_WAIT_MS = 2_000;

/**
 * Decides which forms go into which targets, by the names of listed forms, of forms in targets, and of the slugs that the settings
 * are bound to (L11). A form continues under any new slug; another form that gets its old slug is not the one in the settings.
 */
export class Planner {
  readonly #options: PlannerOptions;
  /** As last read from each target. */
  readonly #known = new Map<string, KnownTarget>();
  /** The forms as last listed. */
  #listed: { readonly forms: readonly Form[]; readonly atMs: number } | undefined;
  /** IDs of forms by the names in the settings, as first listed. */
  readonly #meant = new Map<string, string>();
  #planned: MirrorPlan | null = null;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** The last plan of this process; null before the first. */
  get planned(): MirrorPlan | null {
    return this.#planned;
  }

  /**
   * A new plan. A form that was mirrored and is no longer listed stays in the plan until a run has found it gone (L8), so that
   * people learn of it. Rejects as `listForms` does.
   */
  async plan(
    signal: AbortSignal,
    { waitForTargets = false, inTurn = false }: PlanningOptions = {},
  ): Promise<MirrorPlan> {
    const { targets, clock, logger } = this.#options;
    const listed = await this.#list(signal, { inTurn });
    const answers = Promise.all(
      targets.map(({ name }) =>
        this.read(name).catch((error: unknown) =>
          logger.debug({ target: name, err: error }, 'The target did not list its forms.'),
        ),
      ),
    );
    await (waitForTargets ? answers : withinTime(answers, TARGET_WAIT_MS, clock));
    const places = targets.flatMap(({ name: target }): Place[] => {
      const copied = this.#known.get(target)?.forms.filter(({ goneAtMs }) => goneAtMs === null);
      return byId([...(copied ?? []), ...listed])
        .map(({ id, slug, name }) => ({ form: { id, slug, name }, target }))
        .filter(({ form }) => this.isChosen(target, form));
    });
    const byForm = Map.groupBy(places, ({ form }) => form.id);
    const unmatched = this.#mistakes(listed);
    const atMs = clock.now();
    const before = this.#planned?.sinceMs;
    const sinceMs = new Map([...byForm.keys()].map((id) => [id, before?.get(id) ?? atMs]));
    this.#planned = { places: [...byForm.values()].flat(), listed, unmatched, atMs, sinceMs };
    return this.#planned;
  }

  /** Reads the names that a target knows, unless it answered a moment ago. Rejects as the target does. */
  async read(target: string): Promise<KnownTarget> {
    const { openTarget, clock } = this.#options;
    const before = this.#known.get(target);
    if (before !== undefined && clock.now() - before.atMs < NAMES_TTL_MS) return before;
    const { store } = await openTarget(target);
    const states = await store.states();
    const slugs = new Map(Object.entries(await SLUGS.read(store)));
    const forms = states.map(({ state: { formId: id, slug, name, goneAtMs }, fields }) => {
      return { id, slug, name, goneAtMs, fields };
    });
    const known = { forms, slugs, atMs: clock.now() };
    this.#known.set(target, known);
    return known;
  }

  /** A run has changed which forms a target has: the next plan reads it again. */
  expire(target: string): void {
    const known = this.#known.get(target);
    if (known !== undefined) this.#known.set(target, { ...known, atMs: -Infinity });
  }

  /** The settings of a target, with each form by its ID if that is known. */
  settingsById<T extends NamingSettings>(settings: T): T {
    return settingsById(settings, this.#idsFor(settings));
  }

  /**
   * Why nothing of a form is copied into a target. USAGE: the settings leave it out. SLUG_REUSED: they name it only by a slug that
   * means another form; its runs report that. Null: it is copied.
   */
  refusal(
    target: string,
    form: Pick<FormIdentity, 'id' | 'slug'> & Partial<FormIdentity>,
  ): MirrorError | null {
    const settings = this.#options.targets.find(({ name }) => name === target);
    const { id, slug, name = slug } = form;
    if (settings !== undefined) {
      const ids = this.#idsFor(settings);
      const names = formNames(settings);
      const first = ids.get(slug) ?? id;
      const isMeant = [...names].some((each) => (ids.get(each) ?? each) === id);
      if (names.has(slug) && first !== id && !isMeant)
        return slugReused(settings, { id, slug, name }, first);
      if (choosesForm(this.settingsById(settings).forms, form)) return null;
    }
    const what = `The settings leave form "${name}" (${id}) out of target ${target}, so nothing of it is stored there.`;
    return new MirrorError('USAGE', what);
  }

  /**
   * Whether the settings choose a form for a target, or name it by a slug that means another one (its runs report that). False for
   * a target that the settings do not have.
   */
  isChosen(target: string, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
    return this.refusal(target, form)?.code !== 'USAGE';
  }

  /**
   * Throws if nothing of `form` may be stored in the target of these settings: the {@link refusal}, or SETTINGS while a name in
   * TARGET_HASH_FIELDS matches nothing. `form`: as the run sees it; `keep`: the run is about to store it, so the target records
   * which form its slug means. Rejects as `listForms` and the target do.
   */
  async requireNames(
    settings: NamingSettings,
    form: Form,
    signal: AbortSignal,
    keep: boolean,
  ): Promise<void> {
    const { name: target } = settings;
    const { openTarget } = this.#options;
    const { slugs } = await this.read(target);
    this.#note([form]);
    this.#requireChoice(target, form);
    const isMeant = this.#idsFor(settings).get(form.slug) === form.id && form.slug !== form.id;
    if (keep && isMeant && !slugs.has(form.slug)) {
      const { store } = await openTarget(target);
      const bound = await SLUGS.change(store, (before) =>
        Object.hasOwn(before, form.slug) ? before : { ...before, [form.slug]: form.id },
      );
      slugs.set(form.slug, bound[form.slug] ?? form.id);
      // Another process may have recorded another form.
      this.#requireChoice(target, form);
    }
    const listed = await this.#list(signal, { maxAgeMs: NAMES_TTL_MS });
    const others = listed.filter(({ id }) => id !== form.id);
    const mistake = unhashed(settings, this.#names([...others, form]));
    if (mistake === null) return;
    throw new MirrorError(
      'SETTINGS',
      `${mistakeText(mistake)} Answers that are to be hashed could be stored plain, so nothing is stored in target ${target} until the name is corrected.`,
    );
  }

  /** Anyone with access to the queue can add a job, and an earlier setting may have left one. */
  #requireChoice(target: string, form: FormIdentity): void {
    const refusal = this.refusal(target, form);
    if (refusal !== null) throw refusal;
  }

  /** The forms of the workspace, as listed at most `maxAgeMs` ago. Rejects as `listForms` does. */
  async #list(signal: AbortSignal, { inTurn = false, maxAgeMs = 0 }): Promise<readonly Form[]> {
    const now = this.#options.clock.now();
    if (this.#listed !== undefined && now - this.#listed.atMs < maxAgeMs) return this.#listed.forms;
    const forms = await this.#options.listForms(signal, { inTurn });
    // The forms of other pages come from an earlier listing, so its age stays.
    this.#listed = { forms, atMs: inTurn ? (this.#listed?.atMs ?? now) : now };
    this.#note(forms);
    return forms;
  }

  /** Records what names in the settings mean that meant nothing before. An ID goes before a slug. */
  #note(forms: readonly FormIdentity[]): void {
    for (const name of this.#options.targets.flatMap((settings) => [...formNames(settings)])) {
      const form = forms.find(({ id }) => id === name) ?? forms.find(({ slug }) => slug === name);
      if (form !== undefined && !this.#meant.has(name)) this.#meant.set(name, form.id);
    }
  }

  /** None while a target does not answer, because it may have these forms and fields. */
  #mistakes(forms: readonly Form[]): SettingMistake[] {
    const { targets } = this.#options;
    const isCertain = targets.every(({ name }) => this.#known.has(name));
    return isCertain ? mistakesIn(targets, this.#names(forms)) : [];
  }

  /** All known names. */
  #names(forms: readonly Form[]): KnownNames {
    return {
      forms,
      copied: [...this.#known.values()].flatMap((target) => target.forms),
      ids: new Map(this.#options.targets.flatMap((settings) => [...this.#idsFor(settings)])),
    };
  }

  /** IDs of forms by the names in the settings of a target: as this target stores them, as another target does, or as first listed. */
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
}

/** Each form once, with its last name. */
const byId = <T extends FormIdentity>(forms: readonly T[]): T[] => [
  ...new Map(forms.map((form) => [form.id, form])).values(),
];
