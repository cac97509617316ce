import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { heldForms, type Target } from './target.ts';

export interface HoldingsOptions {
  readonly openTarget: (name: string) => Promise<Target>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long the catalogue of a target is valid: runs, which are other jobs, add fields to it. */
const CATALOGUE_TTL_MS = 5 * 60_000;

/** What a target holds: `mirrored` are the forms that it keeps up to date, `all` those that are gone as well. */
interface Held {
  readonly mirrored: Map<string, FormIdentity>;
  readonly all: readonly FormIdentity[];
}

/** What the targets hold already, as far as they have said; each is asked once, and again when it did not answer. */
export class Holdings {
  readonly #options: HoldingsOptions;
  readonly #held = new Map<string, Held>();
  readonly #catalogues = new Map<string, { readonly ids: ReadonlySet<string>; atMs: number }>();

  constructor(options: HoldingsOptions) {
    this.#options = options;
  }

  /** The forms of a target that runs belong to; the map is the caller's to change. Empty until it has answered. */
  mirrored(target: string): Map<string, FormIdentity> {
    return this.#held.get(target)?.mirrored ?? new Map<string, FormIdentity>();
  }

  /** Every form that one of `targets` holds, gone ones included; null when one of them has not answered yet. */
  forms(targets: readonly string[]): FormIdentity[] | null {
    const all = targets.map((target) => this.#held.get(target)?.all);
    return all.includes(undefined) ? null : all.flatMap((forms) => forms ?? []);
  }

  /** Every field in the catalogues of `targets`, as its ID and as `<form ID>:<field ID>`; null when one of them has not answered yet. */
  fields(targets: readonly string[]): Set<string> | null {
    const all = new Set<string>();
    for (const target of targets) {
      const catalogue = this.#catalogues.get(target);
      if (catalogue === undefined) return null;
      for (const id of catalogue.ids) all.add(id);
    }
    return all;
  }

  /** Asks a target once which forms it holds. Never rejects. */
  async lookUpForms(name: string): Promise<void> {
    await this.#ask(name, () => this.requireForms(name).then(() => undefined));
  }

  /**
   * Every form that a target holds, gone ones included, each under the name it had when the target was first asked. Rejects as the
   * target does.
   */
  async requireForms(name: string): Promise<readonly FormIdentity[]> {
    const known = this.#held.get(name);
    if (known !== undefined) return known.all;
    const forms = await heldForms(await this.#options.openTarget(name));
    const all = forms.map(({ id, slug, name }) => ({ id, slug, name }));
    const live = new Set(forms.filter(({ goneAtMs }) => goneAtMs === null).map(({ id }) => id));
    const mirrored = all.filter(({ id }) => live.has(id)).map((form) => [form.id, form] as const);
    this.#held.set(name, { all, mirrored: new Map(mirrored) });
    return all;
  }

  /** Asks a target for its fields, unless it answered a moment ago. Never rejects. */
  async lookUpFields(name: string): Promise<void> {
    const { clock } = this.#options;
    const known = this.#catalogues.get(name);
    if (known !== undefined && clock.now() - known.atMs < CATALOGUE_TTL_MS) return;
    await this.#ask(name, async () => {
      const { store } = await this.#options.openTarget(name);
      const ids = new Set<string>();
      for (const { state, fields } of await store.states()) {
        for (const { id } of fields) ids.add(id).add(`${state.formId}:${id}`);
      }
      this.#catalogues.set(name, { ids, atMs: clock.now() });
    });
  }

  async #ask(name: string, ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      const fields = { target: name, err: error };
      this.#options.logger.debug(fields, 'The target did not list its forms or fields.');
    }
  }
}
