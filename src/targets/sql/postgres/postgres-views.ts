import { SYSTEM_COLUMNS } from '../../../mirror/column-names.ts';
import { literal, quoted, type ViewedForm } from '../dialect.ts';
import { MORE } from '../fields.ts';
import { answerColumns, type FormViewStyle, unionOf, type ViewSelects } from '../form-views.ts';

const STYLE: FormViewStyle = {
  // PostgreSQL replaces a view in place only if new columns come last.
  arrange: (answers) => [...SYSTEM_COLUMNS, ...answers],
  maxLabelBytes: 63,
  inMore: (name) => `${MORE}::jsonb ->> ${literal(name)}`,
  literal: (text) => `${literal(text)}::text`,
  noTime: 'NULL::timestamptz',
  unionOf,
};
/** A longer text is not a date. */
const MAX_DATE_LENGTH = 40;

const state = (name: string): string => `(s.state::jsonb ->> '${name}')`;
const moment = (ms: string): string => `to_timestamp((${ms})::numeric / 1000)`;

const FORMS = `SELECT s.form_id, ${state('slug')} AS slug, ${state('name')} AS name, ${state('place')} AS table_name,
 ${state('place')} || '_labelled' AS view_name, ${moment(state('goneAtMs'))} AS gone_at FROM _mirror_state AS s`;

const FIELDS = `SELECT s.form_id, f.value ->> 'id' AS field_id, f.value ->> 'column' AS column_name, f.value ->> 'textColumn' AS text_column,
 f.value ->> 'label' AS label, (f.value ->> 'position')::integer AS position, f.value ->> 'type' AS type,
 (f.value ->> 'isInForm')::boolean AS is_in_form FROM _mirror_state AS s, jsonb_array_elements(s.fields::jsonb) AS f(value)`;

const LABELS = `SELECT s.form_id, f.value ->> 'id' AS field_id, l.value ->> 'label' AS label, (l.value ->> 'from')::timestamptz AS valid_from,
 lead((l.value ->> 'from')::timestamptz) OVER (PARTITION BY s.form_id, f.place ORDER BY l.place) AS valid_to
 FROM _mirror_state AS s, jsonb_array_elements(s.fields::jsonb) WITH ORDINALITY AS f(value, place),
 jsonb_array_elements(f.value -> 'labels') WITH ORDINALITY AS l(value, place)`;

const FRESHNESS = `SELECT ${state('slug')} AS form,
 (SELECT sum(value::bigint) FROM jsonb_each_text(s.state::jsonb #> '{tally,rows}')) AS rows,
 ${moment(state('submissionsAsOfMs'))} AS submissions_as_of, ${moment(state('statusesAsOfMs'))} AS statuses_as_of,
 (SELECT CASE WHEN count(r.value ->> 'readAtMs') = count(*) THEN ${moment("min((r.value ->> 'readAtMs')::numeric)")} END
  FROM jsonb_array_elements(s.state::jsonb -> 'ranges') AS r(value)) AS answers_as_of FROM _mirror_state AS s`;

function versionsOf(form: ViewedForm): ReturnType<ViewSelects['versionsOf']> {
  const types = { number: 'numeric', text: 'text', json: 'jsonb' } as const;
  const own = answerColumns(form).map(({ field, name, isBeside }) => {
    const type = isBeside ? 'text' : types[field.type ?? 'text'];
    const of = `v.answers::jsonb ${type === 'jsonb' ? '->' : '->>'} ${literal(name)}`;
    return { ended: `(${of})::${type} AS ${quoted(name)}`, current: `t.${quoted(name)}` };
  });
  return {
    ended: own.map(({ ended }) => ended),
    current: own.map(({ current }) => current),
    from: '',
  };
}

/** The answers of a form: single ones, then those of lists. */
function answersOf(form: ViewedForm): string[] {
  const singles: string[] = [];
  const lists: string[] = [];
  for (const { id, column, textColumn, type, isInMore } of form.fields) {
    if (column === null) continue;
    const own = isInMore
      ? form.columns.has(MORE)
        ? `t.${MORE}::jsonb ->> ${literal(column)}`
        : null
      : form.columns.has(column)
        ? `t.${quoted(column)}`
        : null;
    const beside =
      textColumn !== null && form.columns.has(textColumn) ? `t.${quoted(textColumn)}` : null;
    const add = (text: string, number: string): void =>
      void singles.push(`(${literal(id)}, ${text}, ${number})`);
    if (type === 'json' && !isInMore) {
      if (own !== null) lists.push(`(${literal(id)}, ${own})`);
      if (beside !== null) add(beside, 'NULL::numeric');
    } else if (type === 'number' && !isInMore && own !== null)
      add(beside === null ? `${own}::text` : `coalesce(${beside}, ${own}::text)`, own);
    else if (own !== null || beside !== null) add(own ?? beside ?? 'NULL', 'NULL::numeric');
  }
  const select = (from: string, index: string, text: string, number: string): string =>
    `SELECT ${literal(form.formId)}::text AS form_id, ${literal(form.slug)}::text AS slug, t.id AS submission_id, t.status AS status,
 t.created_at AS created_at, (t._deleted_at IS NULL) AS is_live, f.field_id AS field_id, ${index} AS value_index, ${text} AS value_text,
 ${number} AS value_number FROM ${quoted(form.table)} AS t CROSS JOIN LATERAL ${from}`;
  return [
    ...(singles.length === 0
      ? []
      : [
          select(
            `(VALUES ${singles.join(', ')}) AS f(field_id, value_text, value_number)`,
            '1::bigint',
            'f.value_text',
            'f.value_number',
          ),
        ]),
    ...(lists.length === 0
      ? []
      : [
          select(
            `(VALUES ${lists.join(', ')}) AS f(field_id, list) CROSS JOIN LATERAL
 jsonb_array_elements(CASE jsonb_typeof(f.list) WHEN 'array' THEN f.list ELSE jsonb_build_array(f.list) END) WITH ORDINALITY AS e(value, place)`,
            'e.place',
            `e.value #>> '{}'`,
            `CASE jsonb_typeof(e.value) WHEN 'number' THEN (e.value #>> '{}')::numeric END`,
          ),
        ]),
  ];
}

/** Labels come from the state, so that they are always the current ones. */
const answers = (from: string): string =>
  `SELECT a.form_id, a.slug, a.submission_id, a.status, a.created_at, a.is_live, a.field_id, f.column_name, f.label, a.value_index,
 a.value_text, a.value_number, ${dateOf('a.value_text')} AS value_date
 FROM (${from}) AS a LEFT JOIN (${FIELDS}) AS f ON f.form_id = a.form_id AND f.field_id = a.field_id WHERE a.value_text <> ''`;

const MONTH_AND_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const DAY = `(?!0000)([0-9]{4}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?';
const OFFSET = '([Zz]|[+-](0[0-9]|1[0-4]):[0-5][0-9])';
/** With an offset, one of these may be in a year that has not four digits in UTC. */
const FAR_DAYS = '(?!0001-01-01|9999-12-31)';

/** The date or time of a text that is one by ISO 8601, in UTC. No cast is tried that could fail: one such text would fail every query. */
function dateOf(text: string): string {
  const is = (pattern: string): string =>
    `WHEN length(${text}) <= ${MAX_DATE_LENGTH} AND ${text} ~ '^${pattern}$' THEN`;
  const cut = `regexp_replace(${text}, '(?<=[.][0-9]{6})[0-9]+', '')`;
  return `CASE ${is(`${DAY}(${TIME})?`)} ${cut}::timestamp ${is(`${FAR_DAYS}${DAY}${TIME}${OFFSET}`)} ${cut}::timestamptz AT TIME ZONE 'UTC' END`;
}

/** How PostgreSQL writes the public views. */
export const postgresViews: ViewSelects = {
  style: STYLE,
  forms: FORMS,
  fields: FIELDS,
  labels: LABELS,
  freshness: FRESHNESS,
  versionsOf,
  answersOf,
  answers,
};
