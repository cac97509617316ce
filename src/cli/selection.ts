import type { App } from '../app.ts';
import { MirrorError, SettingsError, toMirrorError } from '../base/errors.ts';
import type { FormIdentity } from '../mirror/types.ts';
import type { Place } from '../sync/planner.ts';
import { theForms } from '../sync/names.ts';
import { PAUSES } from '../sync/records.ts';
import { formsIn, reading, type Target } from '../sync/target.ts';
import type { CommandCall, PlaceOptions } from './host.ts';

/**
 * The part of the plan that `--form` and `--target` select. Throws SETTINGS or USAGE if a name does not exist. Rejects as the target
 * does if nothing is planned because a target could not be asked about such a name.
 */
export async function selectPlan(
  { host, options }: CommandCall<PlaceOptions>,
  app: App,
): Promise<Place[]> {
  // A mistake in the command is reported even if the source does not answer.
  app.namesOf(options.target);
  const { places, unmatched } = await app.plan(host.stop.signal, { waitForTargets: true });
  if (unmatched.length > 0) throw new SettingsError(unmatched);
  for (const name of places.length === 0 ? app.targetNames : [])
    await (await app.target(name)).store.states();
  return partOf(app, places, options);
}

/** The part of a plan that a person means. Throws USAGE if a name does not exist. */
export function partOf(
  app: App,
  plan: readonly Place[],
  { form: wanted, target }: { readonly [name in keyof PlaceOptions]: string | null },
): Place[] {
  const names = app.namesOf(target);
  const forms = plan.map(({ form }) => form);
  const only = wanted === undefined || wanted === null ? null : requireForm(forms, wanted);
  return plan.filter(
    (place) => (only === null || place.form.id === only.id) && names.includes(place.target),
  );
}

/**
 * The form that a person means by its ID, or by a slug or name that only one form has: a form that was deleted at the source and the
 * one that replaced it may share both. Several targets may list it. Throws USAGE if several forms have the slug or name.
 */
function formCalled<T extends FormIdentity>(listed: readonly T[], wanted: string): T | undefined {
  const forms = [...new Map(listed.map((form) => [form.id, form])).values()];
  const isCalled = [
    ({ id }: T) => id === wanted,
    ({ slug }: T) => slug === wanted,
    ({ name }: T) => name.toLowerCase() === wanted.toLowerCase(),
  ];
  const found = isCalled.map((test) => forms.filter(test)).find((some) => some.length > 0) ?? [];
  if (found.length <= 1) return found[0];
  throw new MirrorError(
    'USAGE',
    `Several forms are called ${wanted}: ${found.map(({ id }) => id).join(', ')}. Name one by its ID. forms-mirror forms lists the IDs of the forms that the source has.`,
  );
}

/** The same. Throws USAGE, which names the existing forms. */
export function requireForm<T extends FormIdentity>(forms: readonly T[], wanted: string): T {
  const form = formCalled(forms, wanted);
  if (form !== undefined) return form;
  throw new MirrorError('USAGE', `There is no form ${wanted}: ${theForms(forms)}.`);
}

/** The deletions in a copy that wait for a person. Rejects as the target does. */
export async function heldIn(app: App, { form, target }: Place): Promise<number> {
  const opened = await app.target(target);
  return (await reading(opened, form.id, async ({ state }) => state.tally.held)) ?? 0;
}

/** The targets that can be opened, and why the others cannot. Those delay nothing (L12). */
export async function openTargets(app: App, names: readonly string[]) {
  const targets: Target[] = [];
  const failed: { readonly target: string; readonly failure: MirrorError }[] = [];
  for (const name of names) {
    try {
      targets.push(await app.chosen(name));
    } catch (error) {
      failed.push({ target: name, failure: toMirrorError(error) });
    }
  }
  return { targets, failed };
}

/**
 * The form that a person means: one that some of these targets have, or in which people paused it, otherwise one of the workspace,
 * if the settings choose it. The targets come first, because work on a copy must not depend on the source. `failure`: the error of
 * a target that could not be asked; null: all were. Throws USAGE.
 */
export async function findForm(
  app: App,
  wanted: string,
  names: readonly string[],
  signal: AbortSignal,
) {
  const read = await Promise.allSettled(
    names.map(async (target) => {
      const { store } = await app.chosen(target);
      const copied: readonly FormIdentity[] = await formsIn({ store });
      const paused = (await PAUSES.read(store)).flatMap(({ formId }) => formId ?? []);
      return { target, copied, paused };
    }),
  );
  const found = read.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const failure: unknown = read.find((one) => one.status === 'rejected')?.reason ?? null;
  const known = new Map<string, FormIdentity>();
  for (const id of found.flatMap(({ paused }) => paused)) known.set(id, { id, slug: id, name: id });
  for (const form of found.flatMap(({ copied }) => copied)) known.set(form.id, form);
  let form = formCalled([...known.values()], wanted);
  if (form === undefined && app.config.source === undefined && failure !== null) throw failure;
  const listed = form === undefined && app.config.source ? await app.forms(signal) : [];
  form ??= requireForm([...known.values(), ...listed], wanted);
  const { id } = form;
  const having = found.filter(
    ({ copied, paused }) => paused.includes(id) || copied.some((one) => one.id === id),
  );
  return { form, targets: having.map(({ target }) => target), failure };
}
