import type { App } from '../app.ts';
import { MirrorError, SettingsError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { nearestName } from '../base/nearest-name.ts';
import { printable, settingLine } from '../base/printable.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import type { FormPlan, MirrorPlan } from '../sync/planner.ts';
import { choosesForm, theForms } from '../sync/names.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { textTable } from './text-table.ts';

/** The forms and targets that `--form` and `--target` select. Throws SETTINGS or USAGE if a name does not exist. */
export async function selectPlan({ host, text }: CommandCall, app: App): Promise<FormPlan[]> {
  const selected = app.namesOf(text('target'));
  requireSelection(app, selected);
  const { forms } = await requirePlan(host, app);
  const wanted = text('form');
  const identities = forms.map(({ form }) => form);
  const form = wanted === undefined ? undefined : requireForm(identities, wanted);
  return forms
    .filter((plan) => form === undefined || plan.form.id === form.id)
    .map(({ form: planned, targets, listed }) => {
      return { form: planned, targets: targets.filter((name) => selected.includes(name)), listed };
    });
}

/** Throws SettingsError unless fields are selected for these targets, by default for all (L11). */
export function requireSelection(app: App, targets: readonly string[] = app.targetNames): void {
  const missing = targets
    .map((name) => app.settingsOf(name))
    .filter(({ selection }) => !selection)
    .map(({ variables: { fields } }) => ({
      variable: fields,
      message:
        'is missing: only fields that you select leave the source. forms-mirror forms lists the forms, forms-mirror forms <form> the fields of one; * selects all of them',
      example: settingLine(fields, 'contact:*'),
    }));
  if (missing.length > 0) throw new SettingsError(missing);
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

/**
 * The form that a person means by an ID, a slug, or, where only one has it, its name, or an ID or slug as shown to
 * people.
 */
export function findForm<T extends FormIdentity>(
  listed: readonly T[],
  wanted: string,
): T | undefined {
  const forms = [...new Map(listed.map((form) => [form.id, form])).values()];
  const exact = forms.find((form) => choosesForm([wanted], form));
  if (exact !== undefined) return exact;
  const named = forms.filter((form) => form.name.toLowerCase() === wanted.toLowerCase());
  if (named.length === 1) return named[0];
  const shown = forms.filter(({ id, slug }) => [id, slug].map(printable).includes(wanted));
  return shown.length === 1 ? shown[0] : undefined;
}

/** The form that `--form` or an argument means. Several targets may list it. Throws USAGE, naming the forms that exist. */
export function requireForm<T extends FormIdentity>(forms: readonly T[], wanted: string): T {
  const form = findForm(forms, wanted);
  if (form !== undefined) return form;
  const near = nearestName(
    wanted,
    forms.map(({ id, slug, name }) => ({ name: slug, aliases: [id, name] })),
  );
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new MirrorError('USAGE', `There is no form ${wanted}: ${theForms(forms)}.${hint}`);
}

/** Each form with its fields, as lines of `<field ID>  <label>` to read and to copy from. */
export function fieldLines(forms: readonly Form[]): string[] {
  return forms.flatMap((form) => {
    const title = `${form.name} (${form.slug}): ${plural(form.fields.length, 'field')}`;
    const rows = form.fields.map(({ id, label }) => [`  ${id}`, label]);
    const [, ...lines] = textTable(['', ''], rows);
    return [title, ...lines, ''];
  });
}
