import type { App } from '../app.ts';
import { MirrorError, SettingsError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { FormPlan, MirrorPlan } from '../sync/planner.ts';
import { choosesForm, theForms } from '../sync/names.ts';
import { PAUSES } from '../sync/records.ts';
import { heldForms } from '../sync/target.ts';
import type { CommandCall, Host, PlaceOptions } from './host.ts';

/** The forms and targets that `--form` and `--target` select. Throws SETTINGS or USAGE if a name does not exist. */
export async function selectPlan(
  { host, options }: CommandCall<PlaceOptions>,
  app: App,
): Promise<FormPlan[]> {
  const selected = app.namesOf(options.target);
  const { forms } = await requirePlan(host, app);
  const wanted = options.form;
  const identities = forms.map(({ form }) => form);
  const form = wanted === undefined ? undefined : requireForm(identities, wanted);
  return forms
    .filter((plan) => form === undefined || plan.form.id === form.id)
    .map(({ form: planned, targets }) => {
      return { form: planned, targets: targets.filter((name) => selected.includes(name)) };
    });
}

/**
 * The plan. Throws SettingsError when the settings name a form or field that does not exist; as the target does, when
 * nothing is planned because it could not be asked whether it knows such a name.
 */
async function requirePlan(host: Host, app: App): Promise<MirrorPlan> {
  const plan = await app.plan(host.stop.signal, { waitForTargets: true });
  if (plan.unmatched.length > 0) throw new SettingsError(plan.unmatched);
  for (const { name } of plan.forms.length === 0 ? app.config.targets : []) {
    await (await app.target(name)).store.states();
  }
  return plan;
}

/** The form that a person means by an ID, a slug, or, where only one has it, its name. Several targets may list it. */
function formCalled<T extends FormIdentity>(listed: readonly T[], wanted: string): T | undefined {
  const forms = [...new Map(listed.map((form) => [form.id, form])).values()];
  const exact = forms.find((form) => choosesForm([wanted], form));
  const named = forms.filter((form) => form.name.toLowerCase() === wanted.toLowerCase());
  return exact ?? (named.length === 1 ? named[0] : undefined);
}

/** The same. Throws USAGE, naming the forms that exist. */
export function requireForm<T extends FormIdentity>(forms: readonly T[], wanted: string): T {
  const form = formCalled(forms, wanted);
  if (form !== undefined) return form;
  const things = forms.map(({ id, slug, name }) => ({ name: slug, aliases: [id, name] }));
  const near = nearestName(wanted, things);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new MirrorError('USAGE', `There is no form ${wanted}: ${theForms(forms)}.${hint}`);
}

/** A form, and the targets that have it. */
export interface FoundForm {
  readonly form: FormIdentity;
  readonly targets: readonly string[];
  /** Of a target that could not be asked; null: all were. */
  readonly failure: unknown;
}

/**
 * The form that a person means: one that some of these targets hold, or in which people paused it, or else one of the
 * workspace, where the settings name that. The targets come first: work on a copy must not depend on the source. Throws USAGE.
 */
export async function findForm(
  app: App,
  wanted: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<FoundForm> {
  let failure: unknown = null;
  const held = await Promise.all(
    names.map(async (target) => {
      try {
        const { store } = await app.chosen(target);
        const paused = (await PAUSES.read(store)).flatMap(({ formId }) => formId ?? []);
        const unheld = paused.map((id) => ({ id, slug: id, name: id }));
        return { target, forms: [...unheld, ...(await heldForms({ store }))] };
      } catch (error) {
        failure = error;
        return { target, forms: [] };
      }
    }),
  );
  const known = held.flatMap(({ forms }) => forms);
  let form = formCalled<FormIdentity>(known, wanted);
  if (form === undefined && app.config.source === undefined && failure !== null) throw failure;
  form ??= requireForm(
    app.config.source ? [...known, ...(await app.forms(signal))] : known,
    wanted,
  );
  const { id } = form;
  const targets = held.filter(({ forms }) => forms.some((one) => one.id === id));
  return { form, targets: targets.map(({ target }) => target), failure };
}
