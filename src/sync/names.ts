import { MirrorError, type SettingMistake } from '../base/errors.ts';
import { settingLine } from '../base/printable.ts';
import {
  entryOf,
  type FieldName,
  type FieldSelection,
  selectionById,
} from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';

/*
 * The names of forms and fields in TARGET_FORMS, TARGET_FIELDS and TARGET_HASH_FIELDS. A name that matches no form or field is a
 * mistake (L11). Pure.
 */

/** The forms that a target mirrors, according to TARGET_FORMS: all, or form IDs and slugs. */
export type FormChoice = '*' | readonly string[];

/** True when `choice` names the form, by ID or slug. */
export function choosesForm(choice: FormChoice, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
  return choice === '*' || choice.includes(form.id) || choice.includes(form.slug);
}

/** The settings of a target that name forms and fields. */
export interface NamingSettings {
  /** As in TARGETS, in lower case; `default` if unnamed. */
  readonly name: string;
  readonly forms: FormChoice;
  /** Undefined if TARGET_FIELDS is not set: then nothing may leave the source (L11). */
  readonly selection: FieldSelection | undefined;
  /** The variables that they come from, for messages. */
  readonly variables: Readonly<Record<NameList, string>>;
}

type NameList = 'forms' | 'fields' | 'hashFields';

/** One name in the settings of a target. For a name in TARGET_FORMS, `field` is null. */
interface SettingName extends FieldName {
  readonly list: NameList;
  /** The variable, as set: `TARGET_FIELDS`, `TARGET_SHEET_FIELDS`. */
  readonly variable: string;
  /** As written there: `contact:*`. */
  readonly text: string;
}

/** All names except `*`, which matches everything. */
function namesIn({ forms, selection, variables }: NamingSettings): SettingName[] {
  const chosen = forms === '*' ? [] : forms.map((form) => ({ form, field: null }));
  const named = (list: NameList, names: readonly FieldName[]): SettingName[] =>
    names.map((name) => {
      const text = list === 'forms' ? (name.form ?? '*') : entryOf(name);
      return { ...name, list, variable: variables[list], text };
    });
  const names = [
    ...named('forms', chosen),
    ...named('fields', selection?.fields ?? []),
    ...named('hashFields', selection?.hashed ?? []),
  ];
  return names.filter(({ form, field }) => form !== null || field !== null);
}

/** All names of forms in the settings of a target, IDs and slugs. */
export const formNames = (settings: NamingSettings): Set<string> =>
  new Set(namesIn(settings).flatMap(({ form }) => form ?? []));

/** The settings of a target, with each form by its ID where `ids` has one for its name. */
export function settingsById<T extends NamingSettings>(
  settings: T,
  ids: ReadonlyMap<string, string>,
): T {
  const { forms, selection } = settings;
  const byId = (name: string): string => ids.get(name) ?? name;
  return {
    ...settings,
    forms: forms === '*' ? forms : forms.map(byId),
    selection: selection && selectionById(selection, byId),
  };
}

/** Why nothing of `form` is copied (L11). `first`: the ID of the form that its slug named first. */
export function slugReused(
  settings: NamingSettings,
  { id, slug, name }: FormIdentity,
  first: string,
): MirrorError {
  const named = namesIn(settings).filter(({ form }) => form === slug);
  const variables = [...new Set(named.map(({ variable }) => variable))];
  return new MirrorError(
    'SLUG_REUSED',
    `${variables.join(' and ')} ${variables.length === 1 ? 'names' : 'name'} ${slug}, which first meant form ${first}. At the source, form ` +
      `"${name}" (${id}) has that slug now, so nothing of it is copied into target ${settings.name}. Write an ID in place of ` +
      `${slug}: ${first} for the form that was meant first, or ${id} for this one.`,
  );
}

/** What names in the settings can refer to. */
export interface KnownNames {
  /** The forms of the workspace. */
  readonly forms: readonly Form[];
  /** Forms that a target has, including gone ones, under their last known names, with the fields in its catalogue. */
  readonly copied: readonly Form[];
  /** IDs of forms by the names that mean them: see `Planner`. Any other name is an ID or a slug. */
  readonly ids: ReadonlyMap<string, string>;
}

/** The form that a name means: one of the workspace, or a gone one that a target has. */
function formCalled(name: string, { forms, copied, ids }: KnownNames): FormIdentity | undefined {
  const id = ids.get(name);
  const gone = copied.filter((one) => !forms.some((form) => form.id === one.id));
  return [...forms, ...gone].find((form) =>
    id === undefined ? choosesForm([name], form) : form.id === id,
  );
}

/** Whether the name matches a form and a field. */
function isKnown({ form: formName, field }: SettingName, known: KnownNames): boolean {
  const form = formName === null ? null : formCalled(formName, known);
  if (form === undefined) return false;
  // Nothing is stored anymore for a form that is gone.
  const isGone = form !== null && known.forms.every(({ id }) => id !== form.id);
  return (
    field === null ||
    isGone ||
    [...known.forms, ...known.copied].some(
      ({ id, fields }) =>
        (form === null || id === form.id) && fields.some((each) => each.id === field),
    )
  );
}

/**
 * The mistakes in the names in the settings of `targets`, each once. A form that is gone from the source but that a target has is
 * known. So is a form with a new slug, if its first slug is bound to it.
 */
export function mistakesIn(
  targets: readonly NamingSettings[],
  known: KnownNames,
): SettingMistake[] {
  const found = new Map<string, SettingMistake>();
  for (const name of targets.flatMap(namesIn))
    if (!isKnown(name, known)) found.set(`${name.variable}\n${name.text}`, unknown(name, known));
  return [...found.values()];
}

/** The name in TARGET_HASH_FIELDS that matches nothing, so that answers to be hashed might be stored plain; null if there is none. */
export function unhashed(settings: NamingSettings, known: KnownNames): SettingMistake | null {
  const name = namesIn(settings).find((one) => one.list === 'hashFields' && !isKnown(one, known));
  return name === undefined ? null : unknown(name, known);
}

/** The mistake for a name that no form or field has. */
function unknown({ form, list, variable, text }: SettingName, known: KnownNames): SettingMistake {
  const what =
    form !== null && formCalled(form, known) === undefined
      ? `there is no such form: ${theForms(known.forms)}`
      : 'there is no such field: forms-mirror forms <form> lists the fields of a form, and <form>:* selects all, including those of old answers';
  const example = settingLine(variable, list === 'forms' ? 'contact' : 'contact:*');
  return { variable, message: `names ${text}, and ${what}`, example };
}

const MOST_NAMED = 10;

/** The forms by their slugs, the first of them: `the forms are contact, jobs and more`. */
export function theForms(forms: readonly Pick<FormIdentity, 'slug'>[]): string {
  // Correct for every place that was searched: the workspace, targets, or both.
  if (forms.length === 0) return 'no forms were found';
  const slugs = [...new Set(forms.map(({ slug }) => slug))];
  const more = slugs.length > MOST_NAMED ? ' and more' : '';
  return `the forms are ${slugs.slice(0, MOST_NAMED).join(', ')}${more}`;
}
