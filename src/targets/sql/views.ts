import { SYSTEM_COLUMNS, viewLabels } from '../../mirror/column-names.ts';
import { AGREEMENTS_RECORD } from '../../mirror/port.ts';
import {
  type BatchColumn,
  columnsOfEach,
  type ColumnType,
  type Dialect,
  quoted,
  type Session,
  type SqlField,
  type ViewedForm,
} from './dialect.ts';
import { MORE, ownColumns } from './fields.ts';
import { formRecords } from './schema.ts';

/* The public views. They are written once, from fragments of each dialect. A missing answer is NULL, never ''. */

/** The fragments from which a dialect's views are made. In them `s` is a row of `_mirror_state`, `t` a row of a form's table. */
export interface ViewFragments {
  readonly maxLabelBytes: number;
  /** Turns a label into a possible column name; absent if any label is possible. */
  readonly labelOf?: (label: string) => string;
  readonly literal: (text: string) => string;
  /** A text of the state, by its path. */
  readonly state: (path: string) => string;
  /** A time in a JSON document, which has it in milliseconds, or null. By default the document is the state. */
  readonly moment: (path: string, document?: string) => string;
  /** The number of live rows according to the state. */
  readonly rows: string;
  /** When the oldest range was read; NULL if a range was never read. */
  readonly answersAsOf: string;
  /**
   * Selects `form_id`, `place` (from 1), `field_id`, `column_name`, `text_column`, `label`, `position`, `type` and `is_in_form` of each
   * field; a condition on `s` can follow.
   */
  readonly fields: string;
  /** Selects `form_id`, `field_id`, `nth`, `label` and `valid_from` of each label that a field had. */
  readonly labels: string;
  /** The text of an answer in a number column. */
  readonly numberText: (column: string) => string;
  readonly elementsOf: (list: string) => Elements;
  /** The elements of the answer to the field `f` in {@link MORE}. `names`: what it calls the fields, by their places. */
  readonly elementsInMore: (more: string, names: Choices) => Elements;
  /** An answer of a version `v`, which has its answers as JSON by column name. */
  readonly version: (name: string, type: ColumnType) => string;
  /** What those expressions need in addition to `v`. */
  readonly versionTable?: (columns: readonly BatchColumn[]) => string;
}

/** The elements of a JSON list as rows, which `from` adds. Anything else is its own only element. */
export interface Elements {
  readonly from: string;
  readonly index: string;
  readonly text: string;
  readonly number: string;
}

const REJECTED = `SELECT form_id, id AS submission_id, reason, first_seen_at, last_seen_at
 FROM _mirror_entries WHERE kind IN ('rejected', 'undecided')`;

/** The public views: the SELECT of each, by name. They are views, so nothing is stored twice. */
export function publicViews(
  dialect: Dialect,
  forms: readonly ViewedForm[],
  history: boolean,
): ReadonlyMap<string, string> {
  const { views } = dialect;
  const { state, moment } = views;
  const place = state('place');
  const selects = new Map<string, string>([
    [
      'mirror_forms',
      `SELECT s.form_id, ${state('slug')} AS slug, ${state('name')} AS name, ${place} AS table_name,
 ${place} || '_labelled' AS view_name, ${moment('goneAtMs')} AS gone_at FROM _mirror_state AS s`,
    ],
    [
      'mirror_fields',
      `SELECT form_id, field_id, column_name, text_column, label, position, type, is_in_form FROM (${views.fields}) AS f`,
    ],
    [
      'mirror_label_history',
      `SELECT form_id, field_id, label, valid_from,
 lead(valid_from) OVER (PARTITION BY form_id, field_id ORDER BY nth) AS valid_to FROM (${views.labels}) AS l`,
    ],
    ['mirror_runs', 'SELECT * FROM _mirror_runs'],
    ['mirror_rejected', REJECTED],
    ['freshness', freshness(views)],
  ]);
  if (forms.length > 0) {
    const answers = forms.flatMap((form) => answerSelects(form, dialect));
    selects
      .set('mirror_status_history', statusHistory(forms, dialect))
      .set('submissions', unionOf(forms.map((form) => submissionSelect(form, views))))
      .set('answers', `SELECT * FROM (${unionOf(answers)}) AS a WHERE a.value_text <> ''`);
  }
  // After the views of all forms: a form that has views of its own is in those, also in a database that commits with each view.
  for (const form of forms) {
    selects.set(`${form.table}_live`, liveSelect(form));
    selects.set(`${form.table}_labelled`, labelledSelect(form, views));
    if (history) selects.set(`${form.table}_history`, historySelect(form, views));
  }
  return selects;
}

/**
 * The claim about each form: from its last run, or from a poll that has agreed with it since. Answers are never newer than
 * submissions: a run may have read every range, and failed before source and copy agreed.
 */
function freshness({ state, moment, rows, answersAsOf, ...views }: ViewFragments): string {
  const [submissions, statuses] = [moment('submissionsAsOfMs'), moment('statusesAsOfMs')];
  const [polled, polledStatuses] = [moment('atMs', 'p.value'), moment('statusesAtMs', 'p.value')];
  const agreement = views.elementsOf('r.value');
  // The record lists form IDs in the notation of JSON.stringify.
  return `SELECT form, "rows", submissions_as_of, statuses_as_of,
 CASE WHEN submissions_as_of IS NULL OR submissions_as_of < answers_as_of THEN submissions_as_of ELSE answers_as_of END AS answers_as_of
 FROM (SELECT ${state('slug')} AS form, ${rows} AS "rows",
 CASE WHEN p.value IS NULL OR ${submissions} IS NULL OR ${submissions} >= ${polled} THEN ${submissions} ELSE ${polled} END AS submissions_as_of,
 CASE WHEN ${submissions} IS NULL OR ${polledStatuses} IS NULL OR ${statuses} >= ${polledStatuses} THEN ${statuses}
 ELSE ${polledStatuses} END AS statuses_as_of,
 ${answersAsOf} AS answers_as_of FROM _mirror_state AS s LEFT JOIN (SELECT a.form_id, ${agreement.text} AS value FROM _mirror_state AS a
 JOIN _mirror_records AS r ON r.name = '${AGREEMENTS_RECORD}'${agreement.from}
 WHERE replace(${agreement.text}, '"' || a.form_id || '"', '') <> ${agreement.text}) AS p ON p.form_id = s.form_id) AS f`;
}

/** SELECTs in one UNION; SQLite allows at most 500. */
const SELECTS_A_UNION = 200;

/** Unions of unions if there are many. */
function unionOf(selects: readonly string[]): string {
  if (selects.length <= SELECTS_A_UNION) return selects.join('\n UNION ALL ');
  const unions: string[] = [];
  for (let start = 0; start < selects.length; start += SELECTS_A_UNION)
    unions.push(`SELECT * FROM (${unionOf(selects.slice(start, start + SELECTS_A_UNION))}) AS u`);
  return unionOf(unions);
}

/** A column of answers to a field. */
interface AnswerColumn extends BatchColumn, Pick<SqlField, 'id' | 'label'> {
  /** The labels that it had; the last one is current. */
  readonly labels: readonly string[];
}

/** The columns of a form that hold answers, in the order of the table, so that new ones come at the end of a view. */
export function answerColumns({ fields, columns }: ViewedForm): AnswerColumn[] {
  const found = new Map<string, AnswerColumn>();
  for (const field of fields)
    for (const name of ownColumns(field)) {
      const { id, type, textColumn } = field;
      const isBeside = name === textColumn;
      const shown = (label: string): string => (isBeside ? `${label} (text)` : label);
      found.set(name, {
        id,
        name,
        type: isBeside ? 'text' : (type ?? 'text'),
        label: shown(field.label),
        labels: field.labels.map(({ label }) => shown(label)),
      });
    }
  found.set(MORE, { id: MORE, name: MORE, type: 'text', label: MORE, labels: [] });
  return [...columns].flatMap((name) => found.get(name) ?? []);
}

/** The columns of a view of one form: answers last. */
const arranged = (answers: readonly string[]): string => [...SYSTEM_COLUMNS, ...answers].join(', ');

/** Rows that are not marked deleted. */
function liveSelect(form: ViewedForm): string {
  const answers = answerColumns(form).map(({ name }) => quoted(name));
  return `SELECT ${arranged(answers)} FROM ${quoted(form.table)} WHERE _deleted_at IS NULL`;
}

/** All rows, with each column named by its field's label. */
function labelledSelect(form: ViewedForm, views: ViewFragments): string {
  const { labelOf = (label) => label } = views;
  const columns = answerColumns(form);
  const shown = columns.map(({ id, label }) => ({ id, label: labelOf(label) }));
  const labels = viewLabels(shown, SYSTEM_COLUMNS, views.maxLabelBytes);
  const items = columns.map(({ name }, at) => `${quoted(name)} AS ${quoted(labels[at] ?? '')}`);
  return `SELECT ${arranged(items)} FROM ${quoted(form.table)}`;
}

/** Ended versions, and the current one. */
function historySelect(form: ViewedForm, views: ViewFragments): string {
  const { table, formId } = form;
  const columns = answerColumns(form);
  const list = (show: (column: BatchColumn) => string): string =>
    columns.map((column) => `, ${show(column)}`).join('');
  return `SELECT v.submission_id AS id, v.status, v.created_at, v.since AS _valid_from, v.until AS _valid_to,
 (v.deleted_at IS NOT NULL) AS _is_deleted${list(({ name, type }) => `${views.version(name, type)} AS ${quoted(name)}`)}
 FROM _mirror_versions AS v${views.versionTable?.(columns) ?? ''} WHERE v.form_id = ${views.literal(formId)} AND v.answers IS NOT NULL
 UNION ALL SELECT t.id, t.status, t.created_at, t._changed_at, NULL,
 (t._deleted_at IS NOT NULL)${list(({ name }) => `t.${quoted(name)}`)} FROM ${quoted(table)} AS t`;
}

/** A row for each status that a submission had. If successive versions have one status, the first counts. */
function statusHistory(
  forms: readonly ViewedForm[],
  { types, views: { literal } }: Dialect,
): string {
  const noTime = `CAST(NULL AS ${types.time})`;
  const versions = forms.map(({ formId, table }) => {
    const id = literal(formId);
    return `SELECT v.form_id, v.submission_id, v.status, v.until, v.not_before AS until_not_before,
       (SELECT t._first_seen_at FROM ${quoted(table)} AS t WHERE t.id = v.submission_id) AS first_seen
       FROM _mirror_versions AS v WHERE v.form_id = ${id}
       UNION ALL SELECT ${id}, t.id, t.status, ${noTime}, ${noTime}, t._first_seen_at FROM ${quoted(table)} AS t`;
  });
  const window = 'OVER (PARTITION BY form_id, submission_id ORDER BY until IS NULL, until)';
  return `SELECT form_id, submission_id, status, not_before, seen_at FROM (
 SELECT form_id, submission_id, status, lag(status) ${window} AS former, lag(until_not_before) ${window} AS not_before,
 coalesce(lag(until) ${window}, first_seen) AS seen_at FROM (${unionOf(versions)}) AS a) AS b WHERE former IS NULL OR former <> status`;
}

function submissionSelect(
  { formId, slug, name, table }: ViewedForm,
  { literal }: ViewFragments,
): string {
  return `SELECT ${literal(formId)} AS form_id, ${literal(slug)} AS slug, ${literal(name)} AS form_name, t.id AS submission_id,
 t.status AS status, t.created_at AS created_at, t._first_seen_at AS first_seen_at, t._changed_at AS changed_at,
 t._deleted_at AS deleted_at, (t._deleted_at IS NULL) AS is_live FROM ${quoted(table)} AS t`;
}

/** A text for each field, by the places of the fields. */
type Choices = ReadonlyMap<number, string>;

const choose = (choices: Choices): string =>
  `CASE f.place ${[...choices].map(([place, answer]) => `WHEN ${place} THEN ${answer}`).join(' ')} END`;

/**
 * The answers of a form: single ones, then those of lists, then those in {@link MORE}. Labels come from the state, so they are always
 * current.
 */
function answerSelects(form: ViewedForm, { types, views }: Dialect): string[] {
  const texts = new Map<number, string>();
  const numbers = new Map<number, string>();
  const lists = new Map<number, string>();
  const more = new Map<number, string>();
  const columnIn = (name: string | null): string | null =>
    name !== null && form.columns.has(name) ? `t.${quoted(name)}` : null;
  for (const [at, { column, textColumn, type, isInMore }] of form.fields.entries()) {
    if (column === null) continue;
    const place = at + 1;
    if (isInMore) {
      if (form.columns.has(MORE)) more.set(place, column);
      continue;
    }
    const [own, beside] = [columnIn(column), columnIn(textColumn)];
    if (own !== null && type === 'json') lists.set(place, own);
    if (own !== null && type === 'number') numbers.set(place, own);
    const single = type === 'json' ? null : own;
    const text = single !== null && type === 'number' ? views.numberText(single) : single;
    const shown =
      text !== null && beside !== null ? `coalesce(${beside}, ${text})` : (text ?? beside);
    if (shown !== null) texts.set(place, shown);
  }
  // No field has this place: the view also exists before the first answer.
  if (texts.size + lists.size + more.size === 0) texts.set(0, views.literal(''));
  const number = numbers.size === 0 ? `CAST(NULL AS ${types.number})` : choose(numbers);
  const single = { from: '', index: '1', text: choose(texts), number };
  return [
    ...(texts.size > 0 ? [answerSelect(form, texts, single, views)] : []),
    ...(lists.size > 0 ? [answerSelect(form, lists, views.elementsOf(choose(lists)), views)] : []),
    ...(more.size > 0
      ? [answerSelect(form, more, views.elementsInMore(`t.${MORE}`, more), views)]
      : []),
  ];
}

function answerSelect(
  { formId, slug, table }: ViewedForm,
  answered: Choices,
  { from, index, text, number }: Elements,
  { literal, fields }: ViewFragments,
): string {
  const id = literal(formId);
  return `SELECT ${id} AS form_id, ${literal(slug)} AS slug, t.id AS submission_id, t.status AS status, t.created_at AS created_at,
 (t._deleted_at IS NULL) AS is_live, f.field_id AS field_id, f.column_name AS column_name, f.label AS label,
 ${index} AS value_index, ${text} AS value_text, ${number} AS value_number
 FROM (${fields} WHERE s.form_id = ${id}) AS f CROSS JOIN ${quoted(table)} AS t${from}
 WHERE f.place IN (${[...answered.keys()].join(', ')})`;
}

/** The forms whose tables exist. */
export async function viewedForms(tx: Session): Promise<ViewedForm[]> {
  const records = await formRecords(tx);
  const columnsIn = await columnsOfEach(
    tx,
    records.map(({ state }) => state.place),
  );
  return records.flatMap(({ state: { formId, slug, name, place: table }, fields }) => {
    const columns = columnsIn.get(table);
    return columns?.has('id') === true ? [{ formId, slug, name, table, columns, fields }] : [];
  });
}
