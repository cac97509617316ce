import { literal } from '../dialect.ts';
import type { Elements, ViewFragments } from '../views.ts';

const TYPES = { number: 'numeric', text: 'text' } as const;

const timestamp = (ms: string): string => `to_timestamp((${ms})::numeric / 1000)`;
const state = (path: string, document = 's.state'): string => `(${document}::jsonb ->> '${path}')`;

/**
 * Finds what jsonb refuses: U+0000 and half a surrogate pair, as JSON escapes them. Its group is the escaped backslashes before. For
 * JavaScript and for PostgreSQL.
 */
export const REFUSED_IN_JSON = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;

/** JSON without what jsonb refuses. */
const accepted = (json: string): string =>
  String.raw`regexp_replace(${json}, '${REFUSED_IN_JSON}', '\1\\ufffd', 'g')`;

const elementsOf = (list: string): Elements => ({
  from: ` CROSS JOIN LATERAL (SELECT (${list})::jsonb AS list) AS l CROSS JOIN LATERAL
 jsonb_array_elements(CASE jsonb_typeof(l.list) WHEN 'array' THEN l.list ELSE jsonb_build_array(l.list) END) WITH ORDINALITY AS e(value, nth)`,
  index: 'e.nth::integer',
  text: `e.value #>> '{}'`,
  number: `CASE jsonb_typeof(e.value) WHEN 'number' THEN (e.value #>> '{}')::numeric END`,
});

/** How PostgreSQL writes the public views. */
export const postgresViews: ViewFragments = {
  maxLabelBytes: 63,
  literal: (text) => `${literal(text)}::text`,
  state,
  moment: (path, document) => timestamp(state(path, document)),
  rows: `(SELECT sum(value::bigint) FROM jsonb_each_text(s.state::jsonb #> '{tally,rows}'))`,
  answersAsOf: `(SELECT CASE WHEN count(r.value ->> 'readAtMs') = count(*) THEN ${timestamp("min((r.value ->> 'readAtMs')::numeric)")} END
  FROM jsonb_array_elements(s.state::jsonb -> 'ranges') AS r(value))`,
  fields: `SELECT s.form_id, f.place, f.value ->> 'id' AS field_id, f.value ->> 'column' AS column_name,
 f.value ->> 'textColumn' AS text_column, f.value ->> 'label' AS label, (f.value ->> 'position')::integer AS position,
 f.value ->> 'type' AS type, (f.value ->> 'isInForm')::boolean AS is_in_form
 FROM _mirror_state AS s CROSS JOIN jsonb_array_elements(s.fields::jsonb) WITH ORDINALITY AS f(value, place)`,
  labels: `SELECT s.form_id, f.value ->> 'id' AS field_id, l.nth, l.value ->> 'label' AS label, (l.value ->> 'from')::timestamptz AS valid_from
 FROM _mirror_state AS s, jsonb_array_elements(s.fields::jsonb) AS f(value),
 jsonb_array_elements(f.value -> 'labels') WITH ORDINALITY AS l(value, nth)`,
  numberText: (column) => `${column}::text`,
  elementsOf,
  elementsInMore(more) {
    const { from, ...element } = elementsOf('m.value');
    return {
      ...element,
      from: ` JOIN LATERAL jsonb_each(${accepted(more)}::jsonb) AS m ON m.key = f.column_name${from}`,
    };
  },
  version(name, type) {
    if (type === 'json') return `nullif(v.answers::jsonb -> ${literal(name)}, 'null')`;
    return `(v.answers::jsonb ->> ${literal(name)})::${TYPES[type]}`;
  },
};
