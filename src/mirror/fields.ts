import { count } from '../base/format.ts';
import { type FieldSelection, fieldTest } from './selection.ts';
import type { Answers, Form, FormField, SelectedField } from './types.ts';

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

/** The most fields that only answers have: fields that were deleted before the first run. */
export const MAX_UNLISTED_FIELDS = 1_000;
/** The longest field ID: a longer one fits no primary key (PostgreSQL: a third of a page). */
export const MAX_FIELD_ID = 500;

const LEFT_OUT = `has answers that are not stored: to more fields that its form does not have than ${count(MAX_UNLISTED_FIELDS)}, or under IDs longer than ${count(MAX_FIELD_ID)} characters`;

/**
 * The fields of a form that answers have and the schema does not (L9). Their number is limited: a person who fills
 * in a form, or a broken source, can send any field, and each would become a column.
 */
export class UnlistedFields {
  readonly #isSelected: (id: string) => boolean;
  readonly #ids = new Set<string>();
  /** Fields of the schema and of the catalogue. */
  #known: ReadonlySet<string> = new Set();
  #room = MAX_UNLISTED_FIELDS;
  #isAnyLeftOut = false;

  constructor(isSelected: (id: string) => boolean) {
    this.#isSelected = isSelected;
  }

  /** In the order in which they were met. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Sets the fields that are known from elsewhere. Fields of `catalogued` that the form does not list count toward the limit. */
  know({ fields }: Pick<Form, 'fields'>, catalogued: readonly Pick<FormField, 'id'>[]): void {
    const schema = new Set(fields.map(({ id }) => id));
    this.#known = new Set([...schema, ...catalogued.map(({ id }) => id)]);
    this.#room = MAX_UNLISTED_FIELDS - (this.#known.size - schema.size);
  }

  /** Takes answers by field ID, and returns the new IDs among them. */
  meet(answers: Answers): readonly string[] {
    const met: string[] = [];
    for (const id of Object.keys(answers)) {
      if (!this.#isNew(id)) continue;
      if (id.length > MAX_FIELD_ID || this.#ids.size >= this.#room) {
        this.#isAnyLeftOut = true;
        continue;
      }
      this.#ids.add(id);
      met.push(id);
    }
    return met;
  }

  /** Why some of these answers are not mirrored although they are selected. Call it after {@link meet}. */
  defectsOf(answers: Answers): readonly string[] {
    return this.#isAnyLeftOut && Object.keys(answers).some((id) => this.#isNew(id))
      ? [LEFT_OUT]
      : [];
  }

  #isNew(id: string): boolean {
    return !this.#known.has(id) && !this.#ids.has(id) && this.#isSelected(id);
  }
}
