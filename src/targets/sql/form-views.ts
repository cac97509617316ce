import { viewLabels } from '../../mirror/column-names.ts';
import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import type { FormState } from '../../core/mirror/form-state.ts';
import {
  type Dialect,
  quoted,
  type Session,
  type SqlField,
  textOf,
  type ViewedForm,
} from './database.ts';
import { MORE, ownColumns } from './fields.ts';

/*
 * The views of one form that all dialects write alike. An answer that is missing is NULL, never ''.
 */

/** How one dialect writes the views of a form. */
export interface FormViewStyle {
  /** Puts the system columns and the columns of answers in order. */
  readonly arrange: (answers: readonly string[]) => readonly string[];
  readonly maxLabelBytes: number;
  /** A label as a column's name can be; absent where it can be any. */
  readonly labelOf?: (label: string) => string;
  /** An expression for an answer in {@link MORE}, by the name that its column would have. */
  readonly inMore: (name: string) => string;
}

/** A column that shows answers. */
interface ShownColumn {
  readonly field: SqlField;
  readonly name: string;
  /** It is the text column beside the field's own column. */
  readonly isBeside: boolean;
}

/** The columns of a form that hold answers, in the order of the form. */
export const answerColumns = ({ fields, columns }: ViewedForm): ShownColumn[] =>
  fields
    .toSorted((a, b) => a.position - b.position)
    .flatMap((field) =>
      ownColumns(field, columns).map((name) => ({
        field,
        name,
        isBeside: name === field.textColumn,
      })),
    );

/** The rows that are not marked deleted. */
export function liveSelect(form: ViewedForm, { arrange }: FormViewStyle): string {
  const answers = answerColumns(form).map(({ name }) => quoted(name));
  if (form.columns.has(MORE)) answers.push(MORE);
  return `SELECT ${arrange(answers).join(', ')} FROM ${quoted(form.table)} WHERE _deleted_at IS NULL`;
}

/** All rows, each column named by its field's label. */
export function labelledSelect(
  form: ViewedForm,
  { arrange, maxLabelBytes, inMore, labelOf = (label) => label }: FormViewStyle,
): string {
  const shown = answerColumns(form).map(({ field: { id, label }, name, isBeside }) => ({
    id,
    label: isBeside ? `${label} (text)` : label,
    expression: quoted(name),
  }));
  if (form.columns.has(MORE))
    for (const { id, label, column, isInMore } of form.fields)
      if (isInMore && column !== null) shown.push({ id, label, expression: inMore(column) });
  const labels = viewLabels(
    shown.map((each) => ({ ...each, label: labelOf(each.label) })),
    SYSTEM_COLUMNS,
    maxLabelBytes,
  );
  const items = shown.map(({ expression }, at) => `${expression} AS ${quoted(labels[at] ?? '')}`);
  return `SELECT ${arrange(items).join(', ')} FROM ${quoted(form.table)}`;
}

/** The forms whose tables are there. */
export async function viewedForms(
  tx: Session,
  dialect: Pick<Dialect, 'columnsOf'>,
): Promise<ViewedForm[]> {
  const forms: ViewedForm[] = [];
  for (const row of await tx.query('SELECT state, fields FROM _mirror_state ORDER BY form_id')) {
    const { formId, slug, name, place } = JSON.parse(textOf(row['state'])) as FormState;
    const fields = JSON.parse(textOf(row['fields'])) as SqlField[];
    const columns = await dialect.columnsOf(tx, place);
    if (columns.has('id')) forms.push({ formId, slug, name, table: place, columns, fields });
  }
  return forms;
}
