import { viewLabels } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import { partsOf } from './answer-parts.ts';
import { PART_TEXTS } from './descriptions.ts';
import type { SqlDialect } from './dialect.ts';
import type { FieldColumn, FormTable, ViewColumn } from './field-column.ts';

/** The columns of the labelled view besides the system columns, as many as a view can have, oldest first. */
export function planView(
  fields: readonly FieldColumn[],
  dialect: Pick<SqlDialect, 'maxLabelBytes' | 'maxViewColumns' | 'viewLabel'>,
): ViewColumn[] {
  const entries = partsOf(fields).map((part) => ({
    part,
    label: part.field.label + PART_TEXTS[part.kind],
    oldLabel: part.field[VIEW_LABELS[part.kind]],
  }));
  const room = dialect.maxViewColumns - SYSTEM_COLUMNS.length;
  // What the view shows already stays: PostgreSQL can't drop a column of a view.
  const inView = entries.filter((entry) => entry.oldLabel !== null);
  const others = entries.filter((entry) => entry.oldLabel === null);
  const chosen = new Set([...inView, ...others].slice(0, room));
  const shown = entries.filter((entry) => chosen.has(entry));
  const labels = viewLabels(
    shown.map(({ part, label }) => ({
      id: part.field.id,
      label: dialect.viewLabel?.(label) ?? label,
    })),
    SYSTEM_COLUMNS,
    dialect.maxLabelBytes,
  );
  return shown.map(({ part, label, oldLabel }, index) => ({
    part,
    oldLabel,
    label: labels[index] ?? label,
  }));
}

/** Where a field keeps the names that its columns have in the view. */
const VIEW_LABELS = { own: 'viewLabel', text: 'textViewLabel' } as const;

/** The fields with the names that they have in the view now. Unchanged fields are the same objects. */
export function withViewLabels(
  fields: readonly FieldColumn[],
  view: readonly ViewColumn[],
): FieldColumn[] {
  const labels = new Map(
    view.map(({ part, label }) => [`${part.kind} ${part.field.id}`, label] as const),
  );
  return fields.map((field) => {
    const viewLabel = labels.get(`own ${field.id}`) ?? null;
    const textViewLabel = labels.get(`text ${field.id}`) ?? null;
    const isSame = viewLabel === field.viewLabel && textViewLabel === field.textViewLabel;
    return isSame ? field : { ...field, viewLabel, textViewLabel };
  });
}

/** The names of the view's columns besides the system columns, as far as the catalogue knows them. */
export const shownLabels = ({ fields }: Pick<FormTable, 'fields'>): string[] =>
  fields.flatMap(({ viewLabel, textViewLabel }) =>
    [viewLabel, textViewLabel].filter((label) => label !== null),
  );
