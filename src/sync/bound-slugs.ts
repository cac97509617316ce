import { MirrorError } from '../base/errors.ts';
import { formNamesIn, picksById } from '../mirror/picks.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { bindSlug, SLUGS } from './records.ts';
import type { Target } from './target.ts';
import type { NamingSettings } from './unmatched-names.ts';

export interface BoundSlugsOptions {
  readonly targets: readonly NamingSettings[];
  readonly openTarget: (name: string) => Promise<Target>;
}

/**
 * Which form each name of a form in the settings means (L11). A slug is bound to the form that it first named: in the record of the target
 * or of another target, or else as it was listed first in this process. That form goes on under any slug that
 * it gets; another one that gets the slug is not the one in the settings.
 */
export class BoundSlugs {
  readonly #options: BoundSlugsOptions;
  /** By target, as it keeps them; those that have not said are missing. */
  readonly #kept = new Map<string, Map<string, string>>();
  readonly #listed = new Map<string, string>();

  constructor(options: BoundSlugsOptions) {
    this.#options = options;
  }

  /** Notes what names in the settings mean that meant nothing before. An ID goes before a slug. */
  noteForms(forms: readonly FormIdentity[]): void {
    for (const settings of this.#options.targets) {
      for (const name of formNames(settings)) {
        if (this.#listed.has(name)) continue;
        const form = forms.find(({ id }) => id === name) ?? forms.find(({ slug }) => slug === name);
        if (form !== undefined) this.#listed.set(name, form.id);
      }
    }
  }

  /** Reads the bindings of a target once, where its settings name any form. Rejects as the target does. */
  async load(target: string): Promise<void> {
    if (this.isLoaded(target)) return;
    const { store } = await this.#options.openTarget(target);
    this.#kept.set(target, new Map(Object.entries(await SLUGS.read(store))));
  }

  /** Whether there is nothing to ask a target any more. */
  isLoaded(target: string): boolean {
    const settings = this.#settings(target);
    return settings === undefined || this.#kept.has(target) || formNames(settings).size === 0;
  }

  /** IDs of forms by the names in the settings of a target, as far as known. */
  idsFor(target: string): Map<string, string> {
    const settings = this.#settings(target);
    const ids = new Map<string, string>();
    for (const name of settings === undefined ? [] : formNames(settings)) {
      const kept = [this.#kept.get(target), ...this.#kept.values(), this.#listed];
      const id = kept.find((each) => each?.has(name) === true)?.get(name);
      if (id !== undefined) ids.set(name, id);
    }
    return ids;
  }

  /** All of them, of all targets. */
  get ids(): Map<string, string> {
    return new Map(this.#options.targets.flatMap(({ name }) => [...this.idsFor(name)]));
  }

  /** The settings of a target, with each form by its ID where that is known. */
  settingsById<T extends NamingSettings>(settings: T): T {
    const ids = this.idsFor(settings.name);
    const { forms, picks } = settings;
    return {
      ...settings,
      forms: forms === '*' ? forms : forms.map((name) => ids.get(name) ?? name),
      picks: picks && picksById(picks, ids),
    };
  }

  /**
   * The ID of the form that the slug of `form` means in the settings of a target, where that is another one and nothing in these
   * settings means `form` itself; null where all is well.
   */
  reusedFrom(target: string, form: Pick<FormIdentity, 'id' | 'slug'>): string | null {
    const settings = this.#settings(target);
    if (settings === undefined || !formNames(settings).has(form.slug)) return null;
    const ids = this.idsFor(target);
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
   * Throws SLUG_REUSED where {@link reusedFrom} returns a form; none of its submissions may be stored then. `keep`: keeps in the target
   * which form its slug means, as this one is about to be stored. Rejects as the target does.
   */
  async require(target: string, form: FormIdentity, keep: boolean): Promise<void> {
    await this.load(target);
    this.noteForms([form]);
    this.#refuse(target, form);
    const kept = this.#kept.get(target);
    const isMeant = this.idsFor(target).get(form.slug) === form.id && form.slug !== form.id;
    if (!keep || kept === undefined || !isMeant || kept.has(form.slug)) return;
    const { store } = await this.#options.openTarget(target);
    kept.set(form.slug, await bindSlug(store, form.slug, form.id));
    // Another process may have kept another form.
    this.#refuse(target, form);
  }

  #refuse(target: string, form: FormIdentity): void {
    const problem = this.problemOf(target, form);
    if (problem !== null) throw problem;
  }

  #settings(target: string): NamingSettings | undefined {
    return this.#options.targets.find(({ name }) => name === target);
  }
}

/** The names of forms in the settings of a target, IDs and slugs, by the variable that they are in. */
const namesByVariable = ({
  forms,
  picks,
  variables,
}: NamingSettings): [variable: string, names: ReadonlySet<string>][] => [
  [variables.forms, new Set(forms === '*' ? [] : forms)],
  [variables.fields, new Set(picks && formNamesIn(picks))],
  [variables.hashFields, new Set(picks && formNamesIn(picks.hashed))],
];

const formNames = (settings: NamingSettings): Set<string> =>
  namesByVariable(settings).reduce((all, [, names]) => all.union(names), new Set<string>());

/** Why nothing of `form` is copied. `first`: the ID of the form that its slug named first. */
function slugReused(settings: NamingSettings, form: FormIdentity, first: string): MirrorError {
  const { id, slug, name } = form;
  const named = namesByVariable(settings).filter(([, names]) => names.has(slug));
  const variables = named.map(([variable]) => variable).join(' and ');
  return new MirrorError(
    'SLUG_REUSED',
    `${variables} ${named.length === 1 ? 'names' : 'name'} ${slug}, which first meant form ${first}. At the source, form ` +
      `"${name}" (${id}) has that slug now, so nothing of it is copied into target ${settings.name}. Write an ID in place of ` +
      `${slug}: ${first} for the form that was meant first, or ${id} for this one.`,
  );
}
