import { SYSTEM_COLUMNS, viewLabels } from '../../mirror/column-names.ts';
import type { FormState } from '../../mirror/form-state.ts';
import {
  columnsOf,
  type Dialect,
  quoted,
  type Session,
  type SqlField,
  textOf,
  type ViewedForm,
} from './dialect.ts';
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
  /** A text. */
  readonly literal: (text: string) => string;
  /** NULL in a column of times. */
  readonly noTime: string;
  readonly unionOf: (selects: readonly string[]) => string;
}

/** The SELECTs of the public views that each dialect writes in its own way. */
export interface ViewSelects {
  readonly style: FormViewStyle;
  readonly forms: string;
  readonly fields: string;
  readonly labels: string;
  readonly freshness: string;
  /** What a version that ended, and what the row itself, shows of each answer; `from`: what these expressions need. */
  versionsOf(form: ViewedForm): {
    readonly ended: readonly string[];
    readonly current: readonly string[];
    readonly from: string;
  };
  /** The answers of a form, as several SELECTs. */
  answersOf(form: ViewedForm): readonly string[];
  /** The view over all of them. */
  answers(from: string): string;
}

const REJECTED = `SELECT form_id, id AS submission_id, reason, is_stored = 1 AS stored, first_seen_at, last_seen_at
 FROM _mirror_entries WHERE kind IN ('rejected', 'undecided')`;

/** The public views: the SELECT of each, by name. They are views so that nothing is stored twice. */
export function publicViews(
  views: ViewSelects,
  forms: readonly ViewedForm[],
  history: boolean,
): ReadonlyMap<string, string> {
  const { style } = views;
  const selects = new Map<string, string>([
    ['mirror_forms', views.forms],
    ['mirror_fields', views.fields],
    ['mirror_label_history', views.labels],
    ['mirror_runs', 'SELECT * FROM _mirror_runs'],
    ['mirror_rejected', REJECTED],
    ['freshness', views.freshness],
  ]);
  for (const form of forms) {
    selects.set(`${form.table}_live`, liveSelect(form, style));
    selects.set(`${form.table}_labelled`, labelledSelect(form, style));
    if (history) selects.set(`${form.table}_history`, historySelect(form, views));
  }
  selects.set('mirror_status_history', statusHistory(forms, style));
  const submissions = forms.map((form) => submissionSelect(form, style));
  if (submissions.length > 0) selects.set('submissions', style.unionOf(submissions));
  const answers = forms.flatMap((form) => views.answersOf(form));
  if (answers.length > 0) selects.set('answers', views.answers(style.unionOf(answers)));
  return selects;
}

export const unionOf = (selects: readonly string[]): string => selects.join('\n UNION ALL ');

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
function liveSelect(form: ViewedForm, { arrange }: FormViewStyle): string {
  const answers = answerColumns(form).map(({ name }) => quoted(name));
  if (form.columns.has(MORE)) answers.push(MORE);
  return `SELECT ${arrange(answers).join(', ')} FROM ${quoted(form.table)} WHERE _deleted_at IS NULL`;
}

/** All rows, each column named by its field's label. */
function labelledSelect(
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

/** Ended versions, and the current one. */
function historySelect(form: ViewedForm, views: ViewSelects): string {
  const { table, formId } = form;
  const { literal } = views.style;
  const { ended, current, from } = views.versionsOf(form);
  const list = (items: readonly string[]): string => items.map((item) => `, ${item}`).join('');
  const first = `(SELECT _first_seen_at FROM ${quoted(table)} AS o WHERE o.id = v.submission_id)`;
  const ofForm = `v.form_id = ${literal(formId)} AND v.answers IS NOT NULL`;
  return `SELECT v.submission_id AS id, v.status, v.created_at${list(ended)},
 coalesce(lag(v.until) OVER (PARTITION BY v.submission_id ORDER BY v.until), ${first}) AS _valid_from, v.until AS _valid_to,
 (v.deleted_at IS NOT NULL) AS _is_deleted FROM _mirror_versions AS v${from} WHERE ${ofForm}
 UNION ALL SELECT t.id, t.status, t.created_at${list(current)},
 coalesce((SELECT max(v.until) FROM _mirror_versions AS v WHERE v.submission_id = t.id AND ${ofForm}), t._first_seen_at),
 NULL, (t._deleted_at IS NOT NULL) FROM ${quoted(table)} AS t`;
}

/** A row for each status that a submission had. Of successive versions with one status, the first counts. */
function statusHistory(
  forms: readonly ViewedForm[],
  { literal, noTime, unionOf: union }: FormViewStyle,
): string {
  const versions = forms.map(({ formId, table }) => {
    const id = literal(formId);
    return `SELECT v.form_id, v.submission_id, v.status, v.until, v.not_before AS until_not_before,
       (SELECT t._first_seen_at FROM ${quoted(table)} AS t WHERE t.id = v.submission_id) AS first_seen
       FROM _mirror_versions AS v WHERE v.form_id = ${id}
       UNION ALL SELECT ${id}, t.id, t.status, ${noTime}, ${noTime}, t._first_seen_at FROM ${quoted(table)} AS t`;
  });
  if (versions.length === 0)
    return 'SELECT form_id, submission_id, status, not_before, until AS seen_at FROM _mirror_versions WHERE 1 = 0';
  const window = 'OVER (PARTITION BY form_id, submission_id ORDER BY until IS NULL, until)';
  return `SELECT form_id, submission_id, status, not_before, seen_at FROM (
 SELECT form_id, submission_id, status, lag(status) ${window} AS former, lag(until_not_before) ${window} AS not_before,
 coalesce(lag(until) ${window}, first_seen) AS seen_at FROM (${union(versions)}) AS a) AS b WHERE former IS NULL OR former <> status`;
}

function submissionSelect(
  { formId, slug, name, table }: ViewedForm,
  { literal }: FormViewStyle,
): string {
  return `SELECT ${literal(formId)} AS form_id, ${literal(slug)} AS slug, ${literal(name)} AS form_name, t.id AS submission_id,
 t.status AS status, t.created_at AS created_at, t._first_seen_at AS first_seen_at, t._changed_at AS changed_at,
 t._deleted_at AS deleted_at, (t._deleted_at IS NULL) AS is_live FROM ${quoted(table)} AS t`;
}

/** The forms whose tables are there. */
export async function viewedForms(tx: Session, dialect: Dialect): Promise<ViewedForm[]> {
  const forms: ViewedForm[] = [];
  for (const row of await tx.query('SELECT state, fields FROM _mirror_state ORDER BY form_id')) {
    const { formId, slug, name, place } = JSON.parse(textOf(row['state'])) as FormState;
    const fields = JSON.parse(textOf(row['fields'])) as SqlField[];
    const columns = await columnsOf(tx, dialect, place);
    if (columns.has('id')) forms.push({ formId, slug, name, table: place, columns, fields });
  }
  return forms;
}
