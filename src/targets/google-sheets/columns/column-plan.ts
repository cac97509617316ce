import type { PrepareResult } from '../../../mirror/target.ts';
import type { PickedField } from '../../../mirror/types.ts';
import { type CatalogueField, type FieldCatalogue, OWN_COLUMNS } from './field-catalogue.ts';
import { type ColumnKey, fieldKey, hashText } from '../api/metadata.ts';
import { fitText } from '../api/cell-value.ts';
import type { Layout } from './layout.ts';
import { headerText } from './tab-title.ts';

/** A column to be made. */
export interface NewColumn {
  readonly key: ColumnKey;
  readonly header: string;
  /** The column of ours that it comes right behind; undefined: before all others. */
  readonly after: ColumnKey | undefined;
}

/** A header to be rewritten, unless people have put their own there. */
export interface NewHeader {
  readonly key: ColumnKey;
  readonly was: string;
  readonly header: string;
}

/** The columns to make and the headers to rewrite, with the catalogue as that leaves it. */
export interface ColumnPlan {
  readonly catalogue: FieldCatalogue;
  /** In the order in which they are to be made. */
  readonly newColumns: readonly NewColumn[];
  readonly newHeaders: readonly NewHeader[];
  /** Labels of columns that people had deleted and that are created again. */
  readonly restored: readonly string[];
  readonly result: PrepareResult;
}

export interface ColumnPlanInput {
  readonly catalogue: FieldCatalogue;
  /** The tab's columns; undefined when there is no tab yet. */
  readonly layout: Layout | undefined;
  readonly picked: readonly PickedField[];
  readonly restoreColumns: boolean;
  /** Columns of the submission's own that have to be there whatever people deleted. */
  readonly needed?: readonly ColumnKey[];
  /** ISO time. */
  readonly at: string;
}

/**
 * Brings catalogue, columns and picked fields together (L9). A new field gets a column behind its neighbour in the form; a
 * relabel changes the header only; a field that left the form keeps its column and last label; a column that people
 * deleted stays gone, until it is asked for again.
 */
export function planColumns(input: ColumnPlanInput): ColumnPlan {
  const known = noteDropped(input.catalogue, input.layout);
  const wanted = new Map(input.picked.map((field) => [field.id, field]));
  const followed = known.fields.map((field) => follow(field, wanted.get(field.id), input));
  const knownIds = new Set(known.fields.map((field) => field.id));
  const fresh = input.picked
    .filter(
      (field, index) =>
        !knownIds.has(field.id) && input.picked.findIndex(({ id }) => id === field.id) === index,
    )
    .map((field) => newField(field, input.at));
  const fields = withHeaders([...followed, ...fresh]);
  const restoredOwn = new Set(
    known.droppedOwn.filter((key) => input.restoreColumns || input.needed?.includes(key)),
  );
  const catalogue: FieldCatalogue = {
    fields,
    droppedOwn: known.droppedOwn.filter((key) => !restoredOwn.has(key)),
  };
  const before = new Map(known.fields.map((field) => [field.id, field]));
  const restored = fields.filter(
    (field) => before.get(field.id)?.dropped === true && !field.dropped,
  );
  const restoredLabels = [
    ...OWN_COLUMNS.filter(({ key }) => restoredOwn.has(key)).map(({ header }) => header),
    ...restored.map((field) => field.label),
  ];
  return {
    catalogue,
    restored: restoredLabels,
    newColumns: newColumns(catalogue, input.layout),
    newHeaders: newHeaders(catalogue, known, input.layout),
    result: {
      added: [...restoredLabels, ...fresh.map((field) => field.label)],
      relabelled: fields.flatMap((field) => {
        const from = before.get(field.id)?.label ?? field.label;
        return from === field.label ? [] : [{ from, to: field.label }];
      }),
      removed: fields
        .filter((field) => field.removedAt !== null && before.get(field.id)?.removedAt === null)
        .map((field) => field.label),
    },
  };
}

/** Fingerprint of all that {@link planColumns} depends on besides catalogue and layout. */
export const pickedDigest = (
  form: { slug: string; name: string },
  picked: readonly PickedField[],
): string =>
  hashText(
    JSON.stringify([
      1,
      form.slug,
      form.name,
      picked.map(({ id, label, position, inSchema }) => [id, label, position, inSchema]),
    ]),
    12,
  );

/** The catalogue with columns that people deleted noted as such. */
export function noteDropped(catalogue: FieldCatalogue, layout: Layout | undefined): FieldCatalogue {
  if (layout === undefined) {
    // The whole tab is gone: a new one gets all columns.
    return {
      fields: catalogue.fields.map((field) => ({ ...field, dropped: false })),
      droppedOwn: [],
    };
  }
  return {
    fields: catalogue.fields.map((field) => ({
      ...field,
      dropped: !layout.columns.has(fieldKey(field.id)),
    })),
    droppedOwn: OWN_COLUMNS.map(({ key }) => key).filter((key) => !layout.columns.has(key)),
  };
}

function follow(
  field: CatalogueField,
  now: PickedField | undefined,
  { at, restoreColumns }: ColumnPlanInput,
): CatalogueField {
  const dropped = field.dropped && !(restoreColumns && now !== undefined);
  if (now === undefined || !now.inSchema) {
    const position = now?.position ?? field.position;
    return { ...field, dropped, position, removedAt: field.removedAt ?? at };
  }
  const label = fitText(now.label).text;
  const former =
    label === field.label ? field.former : [{ label: field.label, until: at }, ...field.former];
  return { ...field, dropped, label, position: now.position, removedAt: null, former };
}

const newField = (field: PickedField, at: string): CatalogueField => ({
  id: field.id,
  label: fitText(field.label).text,
  header: '',
  position: field.position,
  removedAt: field.inSchema ? null : at,
  dropped: false,
  content: 'none',
  former: [],
});

/**
 * Gives every field a header that no other column has, whatever the case of its letters: formulas and pivot tables name
 * columns by their headers. A header that still goes with its label stays.
 */
function withHeaders(fields: readonly CatalogueField[]): CatalogueField[] {
  const taken = new Set(OWN_COLUMNS.map(({ header }) => header.toLowerCase()));
  const keeps = fields.map(({ id, label, header }) => {
    const base = headerText(label, id);
    const numbered = header.startsWith(`${base} (`) && /^ \(\d+\)$/.test(header.slice(base.length));
    const stays = (header === base || numbered) && !taken.has(header.toLowerCase());
    if (stays) taken.add(header.toLowerCase());
    return stays;
  });
  return fields.map((field, index) => {
    if (keeps[index] === true) return field;
    const base = headerText(field.label, field.id);
    let header = base;
    for (let number = 2; taken.has(header.toLowerCase()); number++) header = `${base} (${number})`;
    taken.add(header.toLowerCase());
    return { ...field, header };
  });
}

/** Columns that should be there and are not, each behind its neighbour: fields in form order, before Removed and the ID. */
function newColumns(catalogue: FieldCatalogue, layout: Layout | undefined): NewColumn[] {
  const order = columnOrder(catalogue);
  const there = new Set(layout?.columns.keys());
  const made: NewColumn[] = [];
  for (const [place, { key, header }] of order.entries()) {
    if (there.has(key)) continue;
    const after = order.slice(0, place).findLast((column) => there.has(column.key))?.key;
    made.push({ key, header, after });
    there.add(key);
  }
  return made;
}

/** All columns that should be there, in the order of a new tab. */
export function columnOrder({
  fields,
  droppedOwn,
}: FieldCatalogue): { key: ColumnKey; header: string }[] {
  const own = OWN_COLUMNS.filter(({ key }) => !droppedOwn.includes(key));
  const inForm = fields
    .filter((field) => !field.dropped)
    .sort((a, b) => a.position - b.position)
    .map((field) => ({ key: fieldKey(field.id), header: field.header || field.label }));
  return [
    ...own.filter(({ side }) => side === 'left'),
    ...inForm,
    ...own.filter(({ side }) => side === 'right'),
  ];
}

function newHeaders(
  catalogue: FieldCatalogue,
  known: FieldCatalogue,
  layout: Layout | undefined,
): NewHeader[] {
  const before = new Map(known.fields.map((field) => [field.id, field.header]));
  return catalogue.fields.flatMap((field) => {
    const key = fieldKey(field.id);
    const was = before.get(field.id);
    const there = layout?.columns.has(key) ?? false;
    // A column that was added before the process died has no header yet.
    return was === field.header || !there ? [] : [{ key, was: was ?? '', header: field.header }];
  });
}
