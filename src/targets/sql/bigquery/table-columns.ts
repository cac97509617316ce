import { SYSTEM_COLUMNS } from '../../../mirror/reserved-names.ts';
import { partsOf } from '../answer-parts.ts';
import { FORM_TEXTS, PART_TEXTS, SYSTEM_COLUMN_TEXTS } from '../descriptions.ts';
import type { AnswerPart, FieldColumn } from '../field-column.ts';
import { ANSWER_TYPES } from './answer-values.ts';
import type { ColumnShape, TableShape } from './bigquery-tables.ts';
import type { FormState } from './form-state.ts';

/* The table of a form. A field's column is made with its first answer, which gives it its type: BigQuery can't change one. */

/** The column by which rows are compared; see row-hash.ts. */
export const HASH_COLUMN = '_hash';

const HASH_TEXT = 'By what the answers are compared. For the mirror itself.';

/** How many columns of a table fields get; BigQuery takes 10,000. */
export const MOST_FIELD_COLUMNS = 9_900;

const TYPES = {
  id: 'STRING',
  status: 'STRING',
  created_at: 'TIMESTAMP',
  _first_seen_at: 'TIMESTAMP',
  _changed_at: 'TIMESTAMP',
  _deleted_at: 'TIMESTAMP',
} as const satisfies Record<(typeof SYSTEM_COLUMNS)[number], ColumnShape['type']>;

/** The columns that every form's table has. */
export const OWN_COLUMNS: readonly ColumnShape[] = [
  ...SYSTEM_COLUMNS.map((name) => ({
    name,
    type: TYPES[name],
    description: SYSTEM_COLUMN_TEXTS[name],
  })),
  { name: HASH_COLUMN, type: 'STRING', description: HASH_TEXT },
];

/** The parts of fields that have a column. */
export const columnParts = (fields: readonly FieldColumn[]): AnswerPart[] =>
  partsOf(fields).filter(({ field }) => field.type !== null);

/** A column of answers. */
export const columnOfPart = ({ field, kind, name, type }: AnswerPart): ColumnShape => {
  const gone = field.removedAt === null ? '' : ' (no longer in the form, or no longer picked)';
  return {
    name,
    type: ANSWER_TYPES[type],
    description: field.label + PART_TEXTS[kind] + gone,
  };
};

/** The columns of answers that the table of a form has to have. */
export const answerColumns = (fields: readonly FieldColumn[]): ColumnShape[] =>
  columnParts(fields).map(columnOfPart);

/** The table of a form. */
export function formTable(
  name: string,
  state: Pick<FormState, 'fields' | 'slug' | 'name'>,
): TableShape {
  const isLast = ({ name: column }: ColumnShape): boolean => column.startsWith('_');
  return {
    name,
    kind: 'table',
    description: FORM_TEXTS.table({ id: '', slug: state.slug, name: state.name }),
    partitionedBy: 'created_at',
    clusteredBy: ['id'],
    columns: [
      ...OWN_COLUMNS.filter((column) => !isLast(column)),
      ...answerColumns(state.fields),
      ...OWN_COLUMNS.filter(isLast),
    ],
  };
}
