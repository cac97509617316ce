import { viewLabels } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { SqlDialect } from './dialect.ts';
import type { FieldColumn, FormTable, ViewColumn } from './field-column.ts';

/** The columns of the labelled view besides the system columns, as many as a view can have, oldest first. */
export function planView(fields: readonly FieldColumn[], dialect: SqlDialect): ViewColumn[] {
  const entries = fields.flatMap((field) => [
    { field, isNumberTwin: false, label: field.label, oldLabel: field.viewLabel },
    ...(field.numberColumn === null
      ? []
      : [
          {
            field,
            isNumberTwin: true,
            label: `${field.label} (number)`,
            oldLabel: field.numberViewLabel,
          },
        ]),
  ]);
  const room = dialect.maxViewColumns - SYSTEM_COLUMNS.length;
  // What the view shows already stays: PostgreSQL can't drop a column of a view.
  const inView = entries.filter((entry) => entry.oldLabel !== null);
  const others = entries.filter((entry) => entry.oldLabel === null);
  const chosen = new Set([...inView, ...others].slice(0, room));
  const shown = entries.filter((entry) => chosen.has(entry));
  const labels = viewLabels(
    shown.map(({ field, label }) => ({ id: field.id, label })),
    SYSTEM_COLUMNS,
    dialect.maxLabelBytes,
  );
  return shown.map(({ field, isNumberTwin, oldLabel }, index) => ({
    field,
    isNumberTwin,
    oldLabel,
    label: labels[index] ?? field.label,
  }));
}

/** The fields with the names that they have in the view now. Unchanged fields are the same objects. */
export function withViewLabels(
  fields: readonly FieldColumn[],
  view: readonly ViewColumn[],
): FieldColumn[] {
  const labels = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const { field, isNumberTwin, label } of view) {
    (isNumberTwin ? twins : labels).set(field.id, label);
  }
  return fields.map((field) => {
    const viewLabel = labels.get(field.id) ?? null;
    const numberViewLabel = twins.get(field.id) ?? null;
    if (viewLabel === field.viewLabel && numberViewLabel === field.numberViewLabel) return field;
    return { ...field, viewLabel, numberViewLabel };
  });
}

/** The names of the view's columns besides the system columns, as far as the catalogue knows them. */
export const shownLabels = ({ fields }: Pick<FormTable, 'fields'>): string[] =>
  fields.flatMap(({ viewLabel, numberViewLabel }) =>
    [viewLabel, numberViewLabel].filter((label) => label !== null),
  );
