import { closest } from 'fastest-levenshtein';
import type { App, FormPlan, MirrorPlan } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import type { FormIdentity } from '../mirror/types.ts';
import { SettingsError } from '../settings/problems.ts';
import { findForm } from '../sync/planned-forms.ts';
import type { CommandCall } from './command-spec.ts';
import { formLines } from './form-lines.ts';
import type { Host } from './host.ts';

/** The forms and targets that `--form` and `--target` leave. Throws SETTINGS or USAGE when something is not there. */
export async function choosePlan({ host, text }: CommandCall, app: App): Promise<FormPlan[]> {
  const only = text('target');
  const names = app.config.targets.map(({ name }) => name);
  const chosen = only === undefined ? names : [app.settingsOf(only).name];
  await requirePicks(host, app, chosen);
  const { forms } = await requirePlan(host, app);
  const wanted = text('form');
  const identities = forms.map(({ form }) => form);
  const form = wanted === undefined ? undefined : requireForm(identities, wanted);
  return forms
    .filter((plan) => form === undefined || plan.form.id === form.id)
    .map((plan) => ({
      form: plan.form,
      targets: plan.targets.filter((name) => chosen.includes(name)),
    }));
}

/**
 * Makes sure that fields are picked for these targets (L11). Where they are not, shows on stderr what there is to pick
 * from, and throws SettingsError.
 */
export async function requirePicks(
  host: Host,
  app: App,
  targets: readonly string[],
): Promise<void> {
  const blank = targets.map((name) => app.settingsOf(name)).filter(({ picks }) => !picks);
  if (blank.length === 0) return;
  const forms = await app.forms(host.stop.signal);
  host.terminal.say('The fields that can be mirrored:\n');
  for (const line of formLines(forms)) host.terminal.say(line);
  const example = forms[0] ? `${forms[0].slug}:*` : '*';
  throw new SettingsError(
    blank.map(({ variables: { fields } }) => ({
      variable: fields,
      message: 'is missing: only fields that you pick leave the source; * picks them all',
      example: `${fields}='${example}'`,
    })),
  );
}

/** The plan, with TARGET_FORMS checked against the forms there are. Throws SettingsError. */
export async function requirePlan(host: Host, app: App): Promise<MirrorPlan> {
  const plan = await app.plan(host.stop.signal, { patient: true });
  if (plan.unknown.length === 0) return plan;
  const forms = await app.forms(host.stop.signal);
  throw new SettingsError(
    plan.unknown.map(({ variable, name }) => ({
      variable,
      message: `names ${name}, and there is no such form: ${namesOf(forms)}`,
      example: `${variable}=${nearestForm(forms, name) ?? '*'}`,
    })),
  );
}

/** The form that `--form` or an argument means. Throws USAGE with the forms there are. */
export function requireForm<T extends FormIdentity>(forms: readonly T[], wanted: string): T {
  const form = findForm(forms, wanted);
  if (form !== undefined) return form;
  const near = nearestForm(forms, wanted);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new MirrorError('USAGE', `There is no form ${wanted}: ${namesOf(forms)}.${hint}`);
}

function namesOf(forms: readonly Pick<FormIdentity, 'slug'>[]): string {
  if (forms.length === 0) return 'the workspace has none';
  const slugs = forms.map(({ slug }) => slug);
  return `there is ${slugs.slice(0, 12).join(', ')}${slugs.length > 12 ? ' and more' : ''}`;
}

function nearestForm(
  forms: readonly Pick<FormIdentity, 'slug'>[],
  wanted: string,
): string | undefined {
  const slugs = forms.map(({ slug }) => slug);
  return slugs.length === 0 ? undefined : closest(wanted, slugs);
}
