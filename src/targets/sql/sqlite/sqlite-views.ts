import { SYSTEM_COLUMNS } from '../../../mirror/column-names.ts';
import { literal, quoted, type ViewedForm } from '../dialect.ts';
import { MORE } from '../fields.ts';
import {
  answerColumns,
  type FormViewStyle,
  unionOf as plainUnion,
  type ViewSelects,
} from '../form-views.ts';
import { dateOf, elementsOf, numberText } from './sqlite-values.ts';

/** SELECTs joined by one UNION; SQLite takes at most 500. */
const SELECTS_A_UNION = 200;

const STYLE: FormViewStyle = {
  arrange: (answers) => [...SYSTEM_COLUMNS.slice(0, 3), ...answers, ...SYSTEM_COLUMNS.slice(3)],
  maxLabelBytes: 1_000,
  inMore: (name) => `json_extract(${MORE}, '$.${name}')`,
  literal,
  noTime: 'NULL',
  unionOf,
};

const state = (path: string): string => `json_extract(s.state, '$.${path}')`;
const iso = (ms: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`;

const FORMS = `SELECT s.form_id, ${state('slug')} AS slug, ${state('name')} AS name, ${state('place')} AS table_name,
 ${state('place')} || '_labelled' AS view_name, ${iso(state('goneAtMs'))} AS gone_at FROM _mirror_state AS s`;

const field = (path: string): string => `json_extract(f.value, '$.${path}')`;

const FIELDS = `SELECT s.form_id, ${field('id')} AS field_id, ${field('column')} AS column_name, ${field('textColumn')} AS text_column,
 ${field('label')} AS label, ${field('position')} AS position, ${field('type')} AS type, ${field('isInForm')} AS is_in_form
 FROM _mirror_state AS s, json_each(s.fields) AS f`;

const LABELS = `SELECT s.form_id, ${field('id')} AS field_id, json_extract(l.value, '$.label') AS label,
 json_extract(l.value, '$.from') AS valid_from,
 lead(json_extract(l.value, '$.from')) OVER (PARTITION BY s.form_id, f.key ORDER BY l.key) AS valid_to
 FROM _mirror_state AS s, json_each(s.fields) AS f, json_each(f.value, '$.labels') AS l`;

const FRESHNESS = `SELECT ${state('slug')} AS form,
 (SELECT sum(value) FROM json_each(s.state, '$.tally.rows')) AS rows,
 ${iso(state('submissionsAsOfMs'))} AS submissions_as_of, ${iso(state('statusesAsOfMs'))} AS statuses_as_of,
 (SELECT CASE WHEN count(json_extract(r.value, '$.readAtMs')) = count(*) THEN ${iso("min(json_extract(r.value, '$.readAtMs'))")} END
  FROM json_each(s.state, '$.ranges') AS r) AS answers_as_of FROM _mirror_state AS s`;

function versionsOf(form: ViewedForm): ReturnType<ViewSelects['versionsOf']> {
  const own = answerColumns(form).map(({ name }) => name);
  return {
    ended: own.map(
      (name) => `json_extract(v.answers, ${literal(`$."${name}"`)}) AS ${quoted(name)}`,
    ),
    current: own.map((name) => `t.${quoted(name)}`),
    from: '',
  };
}

/** An answer to one of the fields, in a row of the form's table. */
interface Choice {
  readonly key: number;
  readonly expression: string;
}

/** The answers of a form: single ones, then those of lists. Fields come from the state, so that a label is always the current one. */
function answersOf(form: ViewedForm): string[] {
  const texts: Choice[] = [];
  const numbers: Choice[] = [];
  const lists: Choice[] = [];
  for (const [key, each] of form.fields.entries()) {
    const { column, textColumn, type, isInMore } = each;
    if (column === null) continue;
    const own = isInMore
      ? form.columns.has(MORE)
        ? `json_extract(t.${MORE}, '$.${column}')`
        : null
      : form.columns.has(column)
        ? `t.${quoted(column)}`
        : null;
    const beside =
      textColumn !== null && form.columns.has(textColumn) ? `t.${quoted(textColumn)}` : null;
    if (type === 'json') {
      if (own !== null) lists.push({ key, expression: own });
      if (beside !== null) texts.push({ key, expression: beside });
      continue;
    }
    const both = beside === null || own === null ? (own ?? beside) : `coalesce(${beside}, ${own})`;
    if (both !== null) texts.push({ key, expression: both });
    if (type === 'number' && own !== null) numbers.push({ key, expression: own });
  }
  const selects: string[] = [];
  if (texts.length > 0)
    selects.push(
      answerSelect(form, texts, {
        from: '',
        index: '1',
        text: choose(texts),
        number: choose(numbers),
      }),
    );
  if (lists.length > 0) {
    const elements = elementsOf(choose(lists));
    selects.push(answerSelect(form, lists, { ...elements, from: ` CROSS JOIN ${elements.from}` }));
  }
  return selects;
}

function answerSelect(
  { formId, slug, table }: ViewedForm,
  choices: readonly Choice[],
  value: {
    readonly from: string;
    readonly index: string;
    readonly text: string;
    readonly number: string;
  },
): string {
  const id = literal(formId);
  return `SELECT ${id} AS form_id, ${literal(slug)} AS slug, t.id AS submission_id, t.status AS status, t.created_at AS created_at,
 (t._deleted_at IS NULL) AS is_live, ${field('id')} AS field_id, ${field('column')} AS column_name, ${field('label')} AS label,
 ${value.index} AS value_index, ${value.text} AS value_text, ${value.number} AS value_number
 FROM _mirror_state AS s CROSS JOIN json_each(s.fields) AS f CROSS JOIN ${quoted(table)} AS t${value.from}
 WHERE s.form_id = ${id} AND f.key IN (${choices.map(({ key }) => key).join(', ')})`;
}

const choose = (choices: readonly Choice[]): string =>
  choices.length === 0
    ? 'NULL'
    : `CASE f.key ${choices.map(({ key, expression }) => `WHEN ${key} THEN ${expression}`).join(' ')} END`;

const answers = (from: string): string =>
  `SELECT a.form_id, a.slug, a.submission_id, a.status, a.created_at, a.is_live, a.field_id, a.column_name, a.label, a.value_index,
 ${numberText('a.value_text')} AS value_text, a.value_number, ${dateOf('a.value_text')} AS value_date
 FROM (${from}) AS a WHERE a.value_text <> ''`;

/** Unions of unions where there are many. */
function unionOf(selects: readonly string[]): string {
  if (selects.length <= SELECTS_A_UNION) return plainUnion(selects);
  const unions: string[] = [];
  for (let start = 0; start < selects.length; start += SELECTS_A_UNION)
    unions.push(`SELECT * FROM (${unionOf(selects.slice(start, start + SELECTS_A_UNION))})`);
  return unionOf(unions);
}

/** How SQLite writes the public views. */
export const sqliteViews: ViewSelects = {
  style: STYLE,
  forms: FORMS,
  fields: FIELDS,
  labels: LABELS,
  freshness: FRESHNESS,
  versionsOf,
  answersOf,
  answers,
};
