import { fingerprint, HASH_FORMAT, keyFingerprint } from './cells.ts';
import type { FormIdentity } from './types.ts';

/** Fields as a setting names them. */
export interface FieldNames {
  /** `*`: every field of every form. */
  readonly all: boolean;
  /** Form IDs or slugs of the `<form>:*` entries. */
  readonly forms: ReadonlySet<string>;
  /** Field IDs, of any form. */
  readonly fields: ReadonlySet<string>;
  /** The `<form>:<field>` entries, as written: one field of one form. */
  readonly fieldsOfForms: ReadonlySet<string>;
}

/** Which fields may leave the source (L11), as TARGET_FIELDS and TARGET_HASH_FIELDS say. */
export interface FieldSelection extends FieldNames {
  /** Fields stored as a keyed hash. Hashing a field does not select it. */
  readonly hashed: FieldNames;
}

/** Reads the entries of TARGET_FIELDS and TARGET_HASH_FIELDS: `*`, `<form>:*`, `<form>:<field>`, field IDs. */
export function parseSelection(
  fields: readonly string[],
  hashed: readonly string[] = [],
): FieldSelection {
  return { ...parseNames(fields), hashed: parseNames(hashed) };
}

function parseNames(entries: readonly string[]): FieldNames {
  const forms = entries.filter((entry) => entry.endsWith(':*')).map((entry) => entry.slice(0, -2));
  const single = entries.filter((entry) => entry !== '*' && !entry.endsWith(':*'));
  return {
    all: entries.includes('*'),
    forms: new Set(forms),
    fields: new Set(single.filter((entry) => !entry.includes(':'))),
    fieldsOfForms: new Set(single.filter((entry) => entry.includes(':'))),
  };
}

/** The names of a form in settings: its ID and its slug. */
type FormNames = Pick<FormIdentity, 'id' | 'slug'>;

/** True when `names` hold every field of `form`, including those that only old answers still carry. */
export function namesWholeForm(names: FieldNames, form: FormNames): boolean {
  return names.all || names.forms.has(form.id) || names.forms.has(form.slug);
}

function namesField(names: FieldNames, form: FormNames, fieldId: string): boolean {
  return (
    namesWholeForm(names, form) ||
    names.fields.has(fieldId) ||
    names.fieldsOfForms.has(`${form.id}:${fieldId}`) ||
    names.fieldsOfForms.has(`${form.slug}:${fieldId}`)
  );
}

/** True when this field's answers may reach the target. */
export const isSelected = (selection: FieldSelection, form: FormNames, fieldId: string): boolean =>
  namesField(selection, form, fieldId);

/** True when this field's answers may reach the target as a keyed hash only. */
export const isHashed = (selection: FieldSelection, form: FormNames, fieldId: string): boolean =>
  namesField(selection.hashed, form, fieldId);

/**
 * The part of `names` that concerns one form, in one notation: `*` for the whole form, or the IDs of single fields,
 * which may be those of other forms. Sorted.
 */
export function namesFor(names: FieldNames, form: FormNames): string[] {
  if (namesWholeForm(names, form)) return ['*'];
  const own = [...names.fieldsOfForms].flatMap((entry) => {
    const [formName, fieldId] = splitName(entry);
    return fieldId !== null && (formName === form.id || formName === form.slug) ? [fieldId] : [];
  });
  return [...names.fields.union(new Set(own))].toSorted();
}

/** The forms that `names` name, by ID or slug. */
export const formNamesIn = ({ forms, fieldsOfForms }: FieldNames): Set<string> =>
  forms.union(new Set([...fieldsOfForms].map((entry) => splitName(entry)[0] ?? '')));

/** The same selection, with each form by its ID if `ids` has one for its name. */
export const selectionById = (
  selection: FieldSelection,
  ids: ReadonlyMap<string, string>,
): FieldSelection => ({
  ...namesById(selection, ids),
  hashed: namesById(selection.hashed, ids),
});

function namesById(names: FieldNames, ids: ReadonlyMap<string, string>): FieldNames {
  const byId = (name: string): string => ids.get(name) ?? name;
  const fields = [...names.fieldsOfForms].map((entry) => {
    const [form, field] = splitName(entry);
    return `${byId(form ?? '')}:${field}`;
  });
  const forms = new Set([...names.forms].map(byId));
  return { all: names.all, fields: names.fields, forms, fieldsOfForms: new Set(fields) };
}

/** `contact:field_1` in its two parts; `[null, entry]` for only a field ID, and `[form, null]` for `<form>:*`. */
export function splitName(entry: string): readonly [form: string | null, fieldId: string | null] {
  const at = entry.indexOf(':');
  if (at < 0) return [null, entry];
  const rest = entry.slice(at + 1);
  return [entry.slice(0, at), rest === '*' ? null : rest];
}

/** How the answers of a form become rows in a target. */
export interface Joining {
  readonly selection: FieldSelection;
  readonly hashKey: string | undefined;
}

/** Digests of the settings that select and hash answers. */
export interface StoredUnder {
  readonly selection: string;
  readonly hashing: string;
}

export const isSameUnder = (a: StoredUnder | null, b: StoredUnder | null): boolean =>
  a?.selection === b?.selection && a?.hashing === b?.hashing;

/** The settings of a form. */
export function storedUnder(
  { selection, hashKey }: Joining,
  form: Pick<FormIdentity, 'id' | 'slug'>,
): StoredUnder {
  const hashed = namesFor(selection.hashed, form);
  const key = hashKey === undefined || hashed.length === 0 ? '' : keyFingerprint(hashKey);
  return {
    selection: fingerprint(namesFor(selection, form)),
    hashing: fingerprint([...hashed, key, String(HASH_FORMAT)]),
  };
}
