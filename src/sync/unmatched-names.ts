import { MirrorError } from '../base/errors.ts';
import { looksLikeKey } from '../base/key-like.ts';
import { type NamedThing, nearestName } from '../base/nearest-name.ts';
import { printable } from '../base/printable.ts';
import {
  type FieldNames,
  type FieldSelection,
  formNamesIn,
  isSelected,
  namesWholeForm,
  selectionById,
  splitName,
} from '../mirror/selection.ts';
import type { Form, FormIdentity } from '../mirror/types.ts';

/** Which forms a target mirrors, as TARGET_FORMS says: all, or form IDs and slugs. */
export type FormChoice = '*' | readonly string[];

/** True when `choice` names the form, by ID or slug. */
export function choosesForm(choice: FormChoice, form: Pick<FormIdentity, 'id' | 'slug'>): boolean {
  return choice === '*' || choice.includes(form.id) || choice.includes(form.slug);
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

/** A name in TARGET_FORMS, TARGET_FIELDS or TARGET_HASH_FIELDS that no form and no field has: a mistake in the settings. */
export interface UnmatchedName {
  /** The variable, as set: `TARGET_FIELDS`, `TARGET_SHEET_FIELDS`. */
  readonly variable: string;
  /** The name, as written there: `contact:*`. */
  readonly name: string;
  /**
   * The kind of name that it should be, a form or a field; or `unchosen`: a selected field without a mirrored form;
   * `unselected`: a field to be hashed that is not selected.
   */
  readonly kind: 'form' | 'field' | 'unchosen' | 'unselected';
  /** The nearest right name, as written there; null when none is near. */
  readonly nearest: string | null;
}

/** The settings of a target that name forms and fields. */
export interface NamingSettings {
  /** The target's name. */
  readonly name: string;
  readonly forms: FormChoice;
  /** Undefined when none are selected. */
  readonly selection: FieldSelection | undefined;
  /** The variables that they came from. */
  readonly variables: {
    readonly forms: string;
    readonly fields: string;
    readonly hashFields: string;
  };
}

/** The names of forms in the settings of a target, IDs and slugs, by the variable that they are in. */
const namesByVariable = ({
  forms,
  selection,
  variables,
}: NamingSettings): [variable: string, names: ReadonlySet<string>][] => [
  [variables.forms, new Set(forms === '*' ? [] : forms)],
  [variables.fields, new Set(selection && formNamesIn(selection))],
  [variables.hashFields, new Set(selection && formNamesIn(selection.hashed))],
];

/** All names of forms in the settings of a target, IDs and slugs. */
export const formNames = (settings: NamingSettings): Set<string> =>
  namesByVariable(settings).reduce((all, [, names]) => all.union(names), new Set<string>());

/** Why nothing of `form` is copied (L11). `first`: the ID of the form that its slug named first. */
export function slugReused(
  settings: NamingSettings,
  form: FormIdentity,
  first: string,
): MirrorError {
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

/** The names that settings can use. */
export interface KnownNames {
  /** The forms of the workspace. */
  readonly forms: readonly Form[];
  /** Forms that a target holds or that were listed before, gone ones included, under their names of then. */
  readonly held: readonly FormIdentity[];
  /**
   * Fields that no form shows now and that are known all the same, from a target's catalogue, from old answers: each as its
   * ID, and as `<form ID>:<field ID>`.
   */
  readonly fields: ReadonlySet<string>;
  /** IDs of forms by the names that mean them: see `Planner`. Any other name is an ID or a slug. */
  readonly ids: ReadonlyMap<string, string>;
}

/**
 * The names in the settings of `targets` that match nothing, each once. A form that is gone from the source and that a
 * target holds is known; so is one that has another slug by now, where its first one is bound to it. Pure.
 */
export function unmatchedNames(
  targets: readonly NamingSettings[],
  known: KnownNames,
): UnmatchedName[] {
  const names = new Names(known);
  const found = new Map<string, UnmatchedName>();
  const add = (entry: UnmatchedName): void =>
    void found.set(`${entry.variable}\n${entry.name}`, entry);
  for (const { forms: choice, selection, variables } of targets) {
    for (const name of choice === '*' ? [] : choice) {
      if (names.forms.some((form) => names.isCalled(form, name))) continue;
      const nearest = nearestForm(name, known) ?? null;
      add({ variable: variables.forms, name, kind: 'form', nearest });
    }
    const lists = [
      [variables.fields, selection, 'unchosen'],
      [variables.hashFields, selection?.hashed, 'unselected'],
    ] as const;
    for (const [variable, fields, unused] of lists) {
      // One list may serve several targets, each of which takes a part of it.
      const sharing = targets.filter((one) => Object.values(one.variables).includes(variable));
      const isUsed = (one: NamingSettings, entry: string): boolean =>
        unused === 'unchosen'
          ? names.isAnyChosen(entry, one.forms)
          : one.selection !== undefined && names.isAnySelected(entry, one.selection);
      for (const name of fields === undefined ? [] : entriesOf(fields)) {
        const mistake = names.mistakeIn(name);
        if (mistake !== null) add({ variable, name, ...mistake });
        else if (!sharing.some((one) => isUsed(one, name)))
          add({ variable, name, kind: unused, nearest: null });
      }
    }
  }
  return [...found.values()];
}

/** The names, as written in the setting, without `*`, which matches everything. */
const entriesOf = ({ forms, fields, fieldsOfForms }: FieldNames): string[] => [
  ...[...forms].map((form) => `${form}:*`),
  ...fields,
  ...fieldsOfForms,
];

type Mistake = Pick<UnmatchedName, 'kind' | 'nearest'>;

/** The forms and fields, by their names. */
class Names {
  readonly #known: KnownNames;
  readonly #listed: ReadonlyMap<string, Form>;
  /** Those of the workspace, and those that are gone. */
  readonly forms: readonly FormIdentity[];
  /** Field IDs in the forms at present; `#fieldIds` adds known ones of the past. */
  readonly #shown: ReadonlySet<string>;
  readonly #fieldIds: ReadonlySet<string>;

  constructor(known: KnownNames) {
    this.#known = known;
    this.#listed = new Map(known.forms.map((form) => [form.id, form]));
    const gone = known.held.filter(({ id }) => !this.#listed.has(id));
    this.forms = [...known.forms, ...gone];
    this.#shown = new Set(known.forms.flatMap(fieldIdsOf));
    this.#fieldIds = this.#shown.union(known.fields);
  }

  /** Why an entry matches nothing; null when it matches. */
  mistakeIn(entry: string): Mistake | null {
    const [formName, fieldId] = splitName(entry);
    if (formName === null) {
      if (this.#fieldIds.has(entry)) return null;
      return { kind: 'field', nearest: nearestField(entry, this.#known.forms) ?? null };
    }
    const form = this.forms.find((one) => this.isCalled(one, formName));
    if (form === undefined) {
      const near = nearestForm(formName, this.#known);
      return { kind: 'form', nearest: near === undefined ? null : `${near}:${fieldId ?? '*'}` };
    }
    if (fieldId === null || this.#hasField(form, fieldId)) return null;
    const near = nearestField(
      fieldId,
      [this.#listed.get(form.id)].filter((one) => one !== undefined),
    );
    return { kind: 'field', nearest: near === undefined ? null : `${form.slug}:${near}` };
  }

  /** Whether a name in the settings means a form. */
  isCalled(form: FormIdentity, name: string): boolean {
    return isCalled(form, name, this.#known.ids);
  }

  /** Whether `choice` has a form that an entry names, or one with its field, as far as that is known. */
  isAnyChosen(entry: string, choice: FormChoice): boolean {
    const [formName, fieldId] = splitName(entry);
    const forms =
      formName === null
        ? this.#known.forms.filter((form) => fieldId !== null && fieldIdsOf(form).includes(fieldId))
        : this.forms.filter((form) => this.isCalled(form, formName));
    const chosen =
      choice === '*' ? choice : choice.map((name) => this.#known.ids.get(name) ?? name);
    return forms.length === 0 || forms.some((form) => choosesForm(chosen, form));
  }

  /** Whether `selection` has a part of the fields of an entry, as far as that is known. */
  isAnySelected(entry: string, named: FieldSelection): boolean {
    const selection = selectionById(named, this.#known.ids);
    const [formName, fieldId] = splitName(entry);
    const forms = this.#known.forms.filter(
      (form) =>
        (formName === null || this.isCalled(form, formName)) &&
        (fieldId === null || fieldIdsOf(form).includes(fieldId)),
    );
    // If no form shows a field, or its form is gone, only old answers could decide.
    if (forms.length === 0 || [...selection.fields].some((id) => !this.#shown.has(id))) return true;
    return forms.some(
      (form) =>
        namesWholeForm(selection, form) ||
        (fieldId === null ? fieldIdsOf(form) : [fieldId]).some((id) =>
          isSelected(selection, form, id),
        ),
    );
  }

  #hasField(form: FormIdentity, fieldId: string): boolean {
    const listed = this.#listed.get(form.id);
    // Of a form that is gone nothing is stored any more.
    if (listed === undefined) return true;
    return fieldIdsOf(listed).includes(fieldId) || this.#known.fields.has(`${form.id}:${fieldId}`);
  }
}

function isCalled({ id, slug }: FormIdentity, name: string, ids: KnownNames['ids']): boolean {
  const meant = ids.get(name);
  return meant === undefined ? id === name || slug === name : id === meant;
}

/** As old answers are searched for an unmatched field: see `answer-search.ts`. */
export function searchedName(
  entry: string,
  { forms, ids }: Pick<KnownNames, 'forms' | 'ids'>,
): string {
  const [formName, fieldId] = splitName(entry);
  const form = formName === null ? undefined : forms.find((one) => isCalled(one, formName, ids));
  return form === undefined ? entry : `${form.id}:${fieldId}`;
}

/**
 * Whether answers of `form` may be what an unmatched name in TARGET_HASH_FIELDS means. A name with a form that is known
 * means that one. Any other may mean any form, as it may be misspelt. Pure.
 */
export function mayConcern(
  { name, kind }: UnmatchedName,
  form: FormIdentity,
  { forms, held, ids }: KnownNames,
): boolean {
  const [formName] = splitName(name);
  if (kind === 'unselected') return false;
  if (formName === null) return true;
  const meant = [...forms, ...held].filter((one) => isCalled(one, formName, ids));
  return meant.length === 0 || meant.some(({ id }) => id === form.id);
}

/** `names custmer-feedback, and there is no such form: did you mean customer-feedback?`; goes on after the variable's name. */
export function unmatchedMessage({ name: written, kind, nearest }: UnmatchedName): string {
  const name = shownName(written);
  const hint = nearest === null ? '' : `: did you mean ${nearest}?`;
  switch (kind) {
    case 'form':
      return `names ${name}, and there is no such form${hint}`;
    case 'field': {
      const [form] = splitName(written);
      return form === null
        ? `names ${name}, and no form has a field with this ID${hint}`
        : `names ${name}, and that form has no field with this ID${hint}`;
    }
    case 'unchosen':
      return `names ${name}, and no form that it names is mirrored: add one to TARGET_FORMS, or remove the name`;
    case 'unselected':
      return `names ${name}, and no selected field has this name: select the field, or remove the name`;
  }
}

/** The name as people may see it (L15): a key may have been pasted there, and no form or field is called so. */
export const shownName = (name: string): string =>
  looksLikeKey(name) ? 'what looks like a key, and so is not shown' : name;

/** The whole sentence: `TARGET_FORMS names nope, and there is no such form.` */
export function unmatchedSentence(unmatched: UnmatchedName): string {
  const text = `${unmatched.variable} ${unmatchedMessage(unmatched)}`;
  return text.endsWith('?') ? text : `${text}.`;
}

/** Those of `found` that the settings of `targets` still hold: a person may have corrected the others since. Pure. */
export function stillSet(
  found: readonly UnmatchedName[],
  targets: readonly NamingSettings[],
): UnmatchedName[] {
  // Where nothing is known, every name in the settings is unmatched.
  const all = unmatchedNames(targets, {
    forms: [],
    held: [],
    fields: new Set(),
    ids: new Map(),
  });
  return found.filter(({ variable, name }) =>
    all.some((one) => one.variable === variable && shownName(one.name) === shownName(name)),
  );
}

const fieldIdsOf = ({ fields }: Form): string[] => fields.map(({ id }) => id);

/** The form that is there now and was likely meant, by its slug. */
function nearestForm(wanted: string, { forms, held }: KnownNames): string | undefined {
  // A form that has a new slug since.
  const before = held.find(({ slug }) => slug === wanted);
  const now = forms.find(({ id }) => id === before?.id);
  return now?.slug ?? nearestName(wanted, forms.map(formAsNamed));
}

/** A form by its slug, for {@link nearestName}. */
export const formAsNamed = ({ id, slug, name }: FormIdentity): NamedThing => ({
  name: slug,
  aliases: [id, name],
});

/** The field that was likely meant, by its ID: people write labels, and slugs of forms. */
function nearestField(wanted: string, forms: readonly Form[]): string | undefined {
  const form = forms.find(({ id, slug }) => id === wanted || slug === wanted);
  if (form !== undefined) return `${form.slug}:*`;
  const fields = forms.flatMap((each) => each.fields);
  return nearestName(
    wanted,
    fields.map(({ id, label }) => ({ name: id, aliases: [label, id.replace(/^field_\d+_/, '')] })),
  );
}
