import { type FieldPicks, isHashed, isPicked } from './picks.ts';
import type { Form, PickedField } from './types.ts';

/** What the form's schema says about a field. */
export interface LabelEntry {
  readonly label: string;
  /** Place in the form, from 0. */
  readonly position: number;
}

/** The form's fields by ID, as its schema shows them now. */
export type LabelMap = ReadonlyMap<string, LabelEntry>;

/** The label map of a form; of two fields with one ID the first counts. */
export function labelMap(form: Form): LabelMap {
  const map = new Map<string, LabelEntry>();
  for (const { id, label } of form.fields) {
    if (!map.has(id)) map.set(id, { label: labelOrId(label, id), position: map.size });
  }
  return map;
}

/** A field that the target's catalogue knows, with the last label it had. */
export interface KnownField {
  readonly id: string;
  readonly label: string;
}

/**
 * The fields to mirror, in column order: picked fields of the schema in form order; then picked fields that left it but
 * that the target's catalogue knows, under their last label; then those that only old answers carry, whose ID stands in
 * for the label (L9, L11). Positions count on from the schema's end, picked or not.
 */
export function pickFields(
  form: Form,
  picks: FieldPicks,
  known: readonly KnownField[],
  seenInAnswers: Iterable<string>,
): PickedField[] {
  const labels = new Map(labelMap(form));
  const inSchema = labels.size;
  const add = (id: string, label: string): void => {
    if (!labels.has(id)) labels.set(id, { label: labelOrId(label, id), position: labels.size });
  };
  for (const { id, label } of known) add(id, label);
  for (const id of seenInAnswers) add(id, id);
  return [...labels]
    .filter(([id]) => isPicked(picks, form, id))
    .map(([id, { label, position }]) => {
      const hashed = isHashed(picks, form, id);
      return { id, label, position, inSchema: position < inSchema, hashed };
    });
}

/** Spaces, line breaks and characters that take no room, such as U+200B. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}]*$/u;

const labelOrId = (label: string, id: string): string => (BLANK.test(label) ? id : label);
