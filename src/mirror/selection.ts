import { fingerprint, HASH_FORMAT, keyFingerprint } from './cells.ts';
import type { FormIdentity } from './types.ts';

/** Fields as one entry of a setting names them. */
export interface FieldName {
  /** The ID or slug of a form; null: any form. */
  readonly form: string | null;
  /** The ID of a field; null: every field. */
  readonly field: string | null;
}

/** The fields that may leave the source (L11), according to TARGET_FIELDS and TARGET_HASH_FIELDS. */
export interface FieldSelection {
  readonly fields: readonly FieldName[];
  /** Fields stored as a keyed hash. Hashing a field does not select it. */
  readonly hashed: readonly FieldName[];
}

/** Reads the entries of TARGET_FIELDS and TARGET_HASH_FIELDS: `*`, `<form>:*`, `<form>:<field>`, field IDs. */
export const parseSelection = (
  fields: readonly string[],
  hashed: readonly string[] = [],
): FieldSelection => ({ fields: fields.map(parseName), hashed: hashed.map(parseName) });

function parseName(entry: string): FieldName {
  const at = entry.indexOf(':');
  const field = entry.slice(at + 1);
  return { form: at < 0 ? null : entry.slice(0, at), field: field === '*' ? null : field };
}

/** An entry in the notation of the setting: the inverse of {@link parseSelection}. */
export const entryOf = ({ form, field }: FieldName): string =>
  `${form === null ? '' : `${form}:`}${field ?? '*'}`;

/** The names of a form in settings: its ID and its slug. */
type FormNames = Pick<FormIdentity, 'id' | 'slug'>;

/**
 * The part of `names` that concerns one form, sorted and in one notation: `*` for the whole form, including fields that only old
 * answers have, or the IDs of single fields, which may belong to other forms.
 */
export function namesFor(names: readonly FieldName[], { id, slug }: FormNames): string[] {
  const own = names.filter(({ form }) => form === null || form === id || form === slug);
  const fields = new Set(own.map(({ field }) => field ?? '*'));
  return fields.has('*') ? ['*'] : [...fields].toSorted();
}

/** Whether `names` contain the ID of a field of `form`. */
export function fieldTest(names: readonly FieldName[], form: FormNames): (id: string) => boolean {
  const ids = new Set(namesFor(names, form));
  return (id) => ids.has('*') || ids.has(id);
}

/** The same selection, with each form by its ID if `idOf` has one for its name. */
export function selectionById(
  { fields, hashed }: FieldSelection,
  idOf: (formName: string) => string | undefined,
): FieldSelection {
  const byId = ({ form, field }: FieldName): FieldName => ({
    form: form === null ? null : (idOf(form) ?? form),
    field,
  });
  return { fields: fields.map(byId), hashed: hashed.map(byId) };
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

/** What the rows may contain if they were stored under other settings. */
export const OTHER_SETTINGS =
  'The selected or hashed fields have changed since the rows were stored, so answers that are not selected, or plain answers, may still be there.';

/** The settings of a form. */
export function storedUnder(
  { selection, hashKey }: Joining,
  form: Pick<FormIdentity, 'id' | 'slug'>,
): StoredUnder {
  const hashed = namesFor(selection.hashed, form);
  const key = hashKey === undefined || hashed.length === 0 ? '' : keyFingerprint(hashKey);
  return {
    selection: fingerprint(namesFor(selection.fields, form)),
    hashing: fingerprint([...hashed, key, String(HASH_FORMAT)]),
  };
}
