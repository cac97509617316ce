import { fieldColumnName, MAX_NAME_BYTES, uniqueName } from '../../mirror/column-names.ts';
import type { PrepareResult } from '../../mirror/target.ts';
import type { PickedField } from '../../mirror/types.ts';
import { partsOf } from './answer-parts.ts';
import { type FieldColumn, MORE_COLUMN } from './field-column.ts';

/** The changes that a call of `prepare` makes to the catalogue. */
export interface FieldPlan extends PrepareResult {
  /** All fields as they will be, by ordinal. */
  readonly fields: readonly FieldColumn[];
  /** Those of them to write to the catalogue, and those that are new or have another label. */
  readonly changed: readonly FieldColumn[];
  readonly newlyLabelled: readonly FieldColumn[];
}

export interface FieldPlanOptions {
  readonly at: string;
  /** How many columns of its own a table gives to fields. */
  readonly maxFieldColumns: number;
  /** Column names that are taken though no field has them, in lower case. */
  readonly takenColumns: readonly string[];
  /** Replaces what the database can't store in a text. */
  readonly clean: (text: string) => string;
}

/**
 * Reconciles the catalogued fields with the picked ones (L9): a new field gets a column name that never changes; a
 * relabel changes the label only; a field that left the form keeps everything and is recorded as removed.
 */
export function planFields(
  known: readonly FieldColumn[],
  picked: readonly PickedField[],
  options: FieldPlanOptions,
): FieldPlan {
  const wanted = new Map(picked.map((field) => [options.clean(field.id), field]));
  const kept = known.map((field) => followed(field, wanted.get(field.id), options));
  const knownIds = new Set(known.map((field) => field.id));
  const added = newFields(
    kept,
    [...wanted].filter(([id]) => !knownIds.has(id)),
    options,
  );
  const relabelled = kept.filter((field, index) => field.label !== known[index]?.label);
  const removed = kept.filter(
    (field, index) => field.removedAt !== null && known[index]?.removedAt === null,
  );
  return {
    fields: [...kept, ...added],
    changed: [...kept.filter((field, index) => field !== known[index]), ...added],
    newlyLabelled: [...relabelled, ...added],
    added: added.map((field) => field.label),
    relabelled: relabelled.map((field) => ({
      from: known[field.ordinal]?.label ?? field.label,
      to: field.label,
    })),
    removed: removed.map((field) => field.label),
  };
}

/** A known field, updated from the form; the same object when nothing changed. */
function followed(
  field: FieldColumn,
  now: PickedField | undefined,
  { at, clean }: FieldPlanOptions,
): FieldColumn {
  if (now === undefined || !now.inSchema) {
    // A deleted field keeps its last label, not the ID that the source gives in its place.
    const position = now?.position ?? field.position;
    if (field.removedAt !== null && position === field.position) return field;
    return { ...field, position, removedAt: field.removedAt ?? at };
  }
  const label = clean(now.label);
  if (label === field.label && now.position === field.position && field.removedAt === null) {
    return field;
  }
  return { ...field, label, position: now.position, removedAt: null };
}

function newFields(
  kept: readonly FieldColumn[],
  wanted: readonly [id: string, field: PickedField][],
  options: FieldPlanOptions,
): FieldColumn[] {
  const taken = new Set([
    ...options.takenColumns,
    MORE_COLUMN,
    ...partsOf(kept).map(({ name }) => name),
  ]);
  let room = options.maxFieldColumns - columnCount(kept);
  return wanted.map(([id, field], index): FieldColumn => {
    const label = options.clean(field.label);
    const column = fieldColumnName({ id, label }, taken);
    taken.add(column);
    room -= 1;
    return {
      id,
      label,
      position: field.position,
      ordinal: kept.length + index,
      column,
      storage: room >= 0 ? 'column' : 'more',
      type: field.hashed ? 'text' : null,
      ...NO_TEXT_COLUMN,
      viewLabel: null,
      removedAt: field.inSchema ? null : options.at,
    };
  });
}

/** How many columns of the table these fields take. */
export const columnCount = (fields: readonly FieldColumn[]): number =>
  partsOf(fields).filter(({ storage }) => storage === 'column').length;

/** A field that has no column of texts beside its own. */
export const NO_TEXT_COLUMN = {
  textColumn: null,
  textStorage: 'column',
  textViewLabel: null,
} as const;

const TEXT_SUFFIX = '_text';

/**
 * Those of `fields` that are named by `ids`, with a column of texts beside their own: `<column>_text`, or a key in the
 * overflow column where the table has as many columns as it can hold. `taken`: names of columns, in lower case.
 */
export function withTextColumns(
  fields: readonly FieldColumn[],
  ids: ReadonlySet<string>,
  taken: ReadonlySet<string>,
  maxFieldColumns: number,
): FieldColumn[] {
  const names = new Set([...taken, ...partsOf(fields).map(({ name }) => name)]);
  let room = maxFieldColumns - columnCount(fields);
  return fields.map((field): FieldColumn => {
    if (!ids.has(field.id) || field.textColumn !== null) return field;
    const base = field.column.slice(0, MAX_NAME_BYTES - TEXT_SUFFIX.length) + TEXT_SUFFIX;
    const textColumn = uniqueName(base, names);
    names.add(textColumn);
    room -= 1;
    return { ...field, textColumn, textStorage: room >= 0 ? 'column' : 'more' };
  });
}
