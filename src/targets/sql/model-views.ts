import { SYSTEM_COLUMNS } from '../../mirror/reserved-names.ts';
import { answerSelects, type ShownForm } from './answers-view.ts';
import { partsOf } from './answer-parts.ts';
import { FORM_TEXTS, MORE_TEXT, PART_TEXTS, SYSTEM_COLUMN_TEXTS } from './descriptions.ts';
import { type FormTable, MORE_COLUMN } from './field-column.ts';
import { piecesOf, quoted } from './sql-session.ts';
import type { ViewDefinition, ViewDialect, ViewItem } from './view-sql.ts';

/** The views over all forms, by the names that they have unless something else has them. */
export const MODEL_VIEWS = ['submissions', 'answers'] as const;

export type ModelView = (typeof MODEL_VIEWS)[number];

/** What the columns of both are. */
const COMMON_TEXTS = {
  form_id: 'ID of the form at the source.',
  slug: 'Slug of the form.',
  submission_id: SYSTEM_COLUMN_TEXTS.id,
  status: SYSTEM_COLUMN_TEXTS.status,
  created_at: SYSTEM_COLUMN_TEXTS.created_at,
  is_live: 'Whether the submission is not marked deleted.',
};

/** The columns of each, and what they are. The same in every database. */
export const MODEL_COLUMNS = {
  submissions: {
    form_id: COMMON_TEXTS.form_id,
    slug: COMMON_TEXTS.slug,
    form_name: 'Name of the form.',
    submission_id: COMMON_TEXTS.submission_id,
    status: COMMON_TEXTS.status,
    created_at: COMMON_TEXTS.created_at,
    first_seen_at: SYSTEM_COLUMN_TEXTS._first_seen_at,
    changed_at: SYSTEM_COLUMN_TEXTS._changed_at,
    deleted_at: SYSTEM_COLUMN_TEXTS._deleted_at,
    is_live: COMMON_TEXTS.is_live,
  },
  answers: {
    ...COMMON_TEXTS,
    field_id: 'ID of the field at the source.',
    column_name: "Name of the field's column in the form's table.",
    label: 'Current label of the field.',
    value_index: 'Place of a choice among those of one answer, from 1; 1 for any other answer.',
    value_text: 'The answer, or the choice, as text.',
    value_number: 'The same as a number, where it is one.',
    value_date: 'The same as a date or time, where its text is one by ISO 8601.',
  },
} as const satisfies Record<ModelView, Readonly<Record<string, string>>>;

/** What each of them is. */
export const MODEL_TEXTS: Readonly<Record<ModelView, string>> = {
  submissions: 'The submissions of all forms, those that are marked deleted included.',
  answers: 'The answers of all forms: a row for each answer, and for each choice of several.',
};

/** Ends the name of the view of a form's rows that are not marked deleted: `<table>_live`. */
export const LIVE_SUFFIX = '_live';

/** How such a view of ours calls the form's table: one that people made with the same columns is theirs. */
export const LIVE_MARK = 'forms_mirror_live';

/** SELECTs joined by one UNION; SQLite takes at most 500. */
const SELECTS_A_UNION = 200;

/** A view over these forms; undefined where they have nothing to show in it. */
export function modelView(
  view: ModelView,
  forms: readonly ShownForm[],
  dialect: ViewDialect,
): ViewDefinition | undefined {
  const shown = forms.filter(({ present }) => SYSTEM_COLUMNS.every((name) => present.has(name)));
  const selects = shown.flatMap((form) =>
    view === 'submissions' ? [submissionSelect(form, dialect)] : answerSelects(form, dialect),
  );
  if (selects.length === 0) return undefined;
  const filled = view === 'answers' ? ` WHERE a.value_text <> ''` : '';
  return {
    description: MODEL_TEXTS[view],
    items: Object.entries(MODEL_COLUMNS[view]).map(([name, description]): ViewItem => {
      const value = `a.${name}`;
      if (name === 'value_date')
        return { name, expression: dialect.views.dateOf('a.value_text'), description };
      const expression = name === 'value_text' ? dialect.views.textOf(value) : value;
      return { name, expression, description };
    }),
    from: `(${unionOf(selects)}) AS a${filled}`,
  };
}

/** The view of a form's rows that are not marked deleted, with the columns of its table that hold something of the form. */
export function liveView(form: ShownForm, dialect: ViewDialect): ViewDefinition {
  const { present } = form;
  const parts = partsOf(form.fields).filter(
    // A column without any answer may still change its type.
    ({ field, name, storage }) => storage === 'column' && field.type !== null && present.has(name),
  );
  const item = (name: string, description: string): ViewItem => ({
    name,
    expression: `${LIVE_MARK}.${(dialect.views.quoted ?? quoted)(name)}`,
    description,
  });
  const system = SYSTEM_COLUMNS.map((name) => item(name, SYSTEM_COLUMN_TEXTS[name]));
  const more = present.has(MORE_COLUMN) ? [item(MORE_COLUMN, MORE_TEXT)] : [];
  return {
    description: FORM_TEXTS.live(form.form),
    items: [
      ...system.slice(0, 3),
      ...parts.map(({ field, kind, name }) => item(name, field.label + PART_TEXTS[kind])),
      ...more,
      ...system.slice(3),
    ],
    from: `${dialect.relation(form.table)} AS ${LIVE_MARK} WHERE ${LIVE_MARK}._deleted_at IS NULL`,
  };
}

/** The columns that {@link liveView} may give a form, whichever answers came. */
export const liveColumns = ({ fields }: FormTable): string[] => [
  ...SYSTEM_COLUMNS,
  MORE_COLUMN,
  ...partsOf(fields).map(({ name }) => name),
];

function submissionSelect({ form, table }: ShownForm, dialect: ViewDialect): string {
  const literal = (text: string): string => dialect.views.literal(text);
  return `SELECT ${literal(form.id)} AS form_id, ${literal(form.slug)} AS slug, ${literal(form.name)} AS form_name, t.id AS submission_id,
 t.status AS status, t.created_at AS created_at, t._first_seen_at AS first_seen_at, t._changed_at AS changed_at,
 t._deleted_at AS deleted_at, (t._deleted_at IS NULL) AS is_live FROM ${dialect.relation(table)} AS t`;
}

/** Unions of unions where there are many. */
function unionOf(selects: readonly string[]): string {
  if (selects.length <= SELECTS_A_UNION) return selects.join('\nUNION ALL ');
  const unions = [...piecesOf(selects, SELECTS_A_UNION)].map(
    (piece) => `SELECT * FROM (${unionOf(piece)}) AS u`,
  );
  return unionOf(unions);
}
