import { type FieldSelection, fieldTest } from './selection.ts';
import type { StoredField } from './port.ts';
import type { Form, FormField, SelectedField } from './types.ts';

/** A field as people see it: its label (its ID if the label is blank) and its place in the form, from 0. */
type Labelled = Pick<SelectedField, 'label' | 'position'>;

/** The form's fields by ID, as its schema shows them now. If two fields have one ID, the first counts. */
export function labelMap(form: Form): ReadonlyMap<string, Labelled> {
  const map = new Map<string, Labelled>();
  for (const { id, label } of form.fields) {
    if (!map.has(id)) map.set(id, { label: labelOrId(label, id), position: map.size });
  }
  return map;
}

/**
 * The fields to mirror, in column order: selected fields of the schema in form order; then selected fields that left the schema but
 * that the target knows, under their last label; then fields that only old answers have, labelled with their ID (L9, L11).
 * Positions continue after all fields of the schema, selected or not.
 */
export function selectedFields(
  form: Form,
  selection: FieldSelection,
  known: readonly FormField[],
  seenInAnswers: Iterable<string>,
): SelectedField[] {
  const labels = new Map(labelMap(form));
  const inSchema = labels.size;
  const add = (id: string, label: string): void => {
    if (!labels.has(id)) labels.set(id, { label: labelOrId(label, id), position: labels.size });
  };
  for (const { id, label } of known) add(id, label);
  for (const id of seenInAnswers) add(id, id);
  const isSelected = fieldTest(selection.fields, form);
  const isHashed = fieldTest(selection.hashed, form);
  return [...labels]
    .filter(([id]) => isSelected(id))
    .map(([id, { label, position }]) => {
      return { id, label, position, inSchema: position < inSchema, hashed: isHashed(id) };
    });
}

/** Spaces, line breaks and characters without width, such as U+200B. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}]*$/u;

const labelOrId = (label: string, id: string): string => (BLANK.test(label) ? id : label);

/** The longest field ID: a longer one fits no primary key (PostgreSQL: a third of a page). */
export const MAX_FIELD_ID = 500;

/**
 * The fields of a target after an update from the form: labels, positions, and whether the form has them. `selected`: those that may
 * leave the source. `fresh`: what else a target keeps of a new one.
 */
export function followFields<F extends StoredField>(
  before: readonly F[],
  form: Form,
  selected: readonly SelectedField[],
  fresh: Omit<F, Exclude<keyof StoredField, 'column'>>,
): F[] {
  const labels = labelMap(form);
  const fields = new Map(
    before.map((field): [string, F] => {
      const now = labels.get(field.id);
      return [field.id, { ...field, ...now, isInForm: now !== undefined }];
    }),
  );
  for (const { id, label, position, inSchema } of selected) {
    const known = { ...fresh, ...fields.get(id), id, label, position, isInForm: inSchema };
    fields.set(id, { ...known, isFilled: known.column !== null } as F);
  }
  return [...fields.values()];
}
