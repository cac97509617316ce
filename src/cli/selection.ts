import type { App } from '../app.ts';
import { MirrorError } from '../base/errors.ts';
import { plural } from '../base/format.ts';
import { nearestName } from '../base/nearest-name.ts';
import { canBeListed, settingLine } from '../base/printable.ts';
import { splitName } from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';
import { SettingsError } from '../settings/settings-error.ts';
import type { FormPlan, MirrorPlan } from '../sync/planner.ts';
import {
  choosesForm,
  findForm,
  formAsNamed,
  shownName,
  unmatchedMessage,
  type UnmatchedName,
  unmatchedNames,
} from '../sync/unmatched-names.ts';
import type { CommandCall } from './command-spec.ts';
import type { Host } from './host.ts';
import { textTable } from './text-table.ts';

/** The forms and targets that `--form` and `--target` select. Throws SETTINGS or USAGE if a name does not exist. */
export async function selectPlan({ host, text }: CommandCall, app: App): Promise<FormPlan[]> {
  const selected = app.namesOf(text('target'));
  await requireSelection(host, app, selected);
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

/**
 * Makes sure that fields are selected for these targets, by default for all (L11). Otherwise lists the possible
 * fields on stderr, and throws SettingsError.
 */
export async function requireSelection(
  host: Host,
  app: App,
  targets: readonly string[] = app.targetNames,
): Promise<void> {
  const unselected = targets
    .map((name) => app.settingsOf(name))
    .filter(({ selection }) => !selection);
  if (unselected.length === 0) return;
  const forms = await app.forms(host.stop.signal);
  host.terminal.say('The fields that can be mirrored:', '');
  host.terminal.say(...fieldLines(forms));
  const example = wholeForm(forms[0]);
  throw new SettingsError(
    unselected.map(({ variables: { fields } }) => ({
      variable: fields,
      message: 'is missing: only fields that you select leave the source; * selects all of them',
      example: settingLine(fields, example),
    })),
  );
}

/**
 * The plan. Throws SettingsError when the settings name a form or field that does not exist; as the target does, when
 * nothing is planned because it could not be asked whether it knows such a name.
 */
async function requirePlan(host: Host, app: App): Promise<MirrorPlan> {
  const plan = await app.plan(host.stop.signal, { waitForTargets: true });
  const { unmatched } = plan;
  if (unmatched.length > 0) {
    throw unmatchedError(unmatched, await app.forms(host.stop.signal));
  }
  for (const { name } of plan.forms.length === 0 ? app.config.targets : []) {
    await (await app.target(name)).store.states();
  }
  return plan;
}

/** Names in the settings that match nothing, each with the nearest name, or with the list of names. */
export function unmatchedError(
  unmatched: readonly UnmatchedName[],
  forms: readonly Form[],
): SettingsError {
  return new SettingsError(
    unmatched.map((each) => {
      const { variable, kind, nearest } = each;
      const all =
        kind === 'form' ? namesOf(forms) : 'forms-mirror forms <form> lists the fields of a form';
      const knowsAll = nearest !== null || kind === 'unselected' || kind === 'unchosen';
      const message = unmatchedMessage(each) + (knowsAll ? '' : `: ${all}`);
      return { variable, message, example: exampleFor(each, forms) };
    }),
  );
}

/** A line to copy: the nearest name, or one that there is. */
function exampleFor(
  { variable, name, kind, nearest }: UnmatchedName,
  forms: readonly Form[],
): string {
  if (kind === 'unchosen') {
    const [form, fieldId] = splitName(name);
    const meant = forms.find(
      (one) => choosesForm([form ?? ''], one) || one.fields.some(({ id }) => id === fieldId),
    );
    return settingLine('TARGET_FORMS', `…,${(meant && listedName(meant)) ?? shownName(name)}`);
  }
  if (kind === 'unselected')
    return settingLine(variable.replace('HASH_FIELDS', 'FIELDS'), `…,${shownName(name)}`);
  const whole = wholeForm(forms[0]);
  const value = nearest ?? (variable.endsWith('_FORMS') ? whole.replace(/:\*$/, '') : whole);
  const canStand = value.split(':').every((part) => part === '*' || canBeListed(part));
  if (canStand && !value.includes('*')) return `${variable}=${value}`;
  return settingLine(variable, canStand ? value : '*');
}

/** A form's every field, as TARGET_FIELDS names it; all there are where it can't name that form. */
const wholeForm = (form: FormIdentity | undefined): string => {
  const name = form && listedName(form);
  return name === undefined ? '*' : `${name}:*`;
};

/** The slug of a form, or else its ID, that a setting can name it by; undefined for neither. */
export const listedName = ({ slug, id }: FormIdentity): string | undefined =>
  [slug, id].find(canBeListed);

/** True when the settings name a form or field that does not exist; then it is said on stderr. For commands that need no target. */
export async function sayUnmatched(host: Host, app: App, forms: readonly Form[]): Promise<boolean> {
  const { targets } = app.config;
  const known = { forms, held: [], fields: new Set<string>(), ids: new Map<string, string>() };
  if (unmatchedNames(targets, known).length === 0) return false;
  // Only now are the targets asked whether they know such names.
  const { unmatched } = await app.plan(host.stop.signal, { waitForTargets: true });
  if (unmatched.length === 0) return false;
  host.terminal.say('');
  host.terminal.say(...unmatchedError(unmatched, forms).message.split('\n'));
  return true;
}

/** The form that `--form` or an argument means. Several targets may list it. Throws USAGE, naming the forms that exist. */
export function requireForm<T extends FormIdentity>(forms: readonly T[], wanted: string): T {
  const form = findForm(forms, wanted);
  if (form !== undefined) return form;
  const near = nearestName(wanted, forms.map(formAsNamed));
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new MirrorError('USAGE', `There is no form ${wanted}: ${namesOf(forms)}.${hint}`);
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

function namesOf(forms: readonly Pick<FormIdentity, 'slug'>[]): string {
  // True wherever they were looked for: in the workspace, in targets, or in both.
  if (forms.length === 0) return 'no forms were found';
  const slugs = [...new Set(forms.map(({ slug }) => slug))];
  return `the forms are ${slugs.slice(0, 12).join(', ')}${slugs.length > 12 ? ' and more' : ''}`;
}
