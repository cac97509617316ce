import anyAscii from 'any-ascii';
import type { Elements, ViewFragments } from '../../../src/targets/sql/views.ts';
import { quoted } from '../../../src/targets/sql/dialect.ts';
import { literal, nameOf } from './statements.ts';

const state = (path: string, document = 's.state'): string =>
  `JSON_VALUE(${document}, '$.${path}')`;
const timestamp = (ms: string): string => `TIMESTAMP_MILLIS(CAST(${ms} AS INT64))`;

const elementsOf = (list: string): Elements => ({
  from: ` CROSS JOIN UNNEST(IF(STARTS_WITH(${list}, '['), JSON_QUERY_ARRAY(${list}), [${list}])) AS e WITH OFFSET AS nth`,
  index: 'nth + 1',
  text: `CASE WHEN e = 'null' THEN NULL WHEN STARTS_WITH(e, '"') THEN JSON_VALUE(e) ELSE e END`,
  number: `IF(REGEXP_CONTAINS(e, r'^-?[0-9]'), SAFE_CAST(e AS FLOAT64), NULL)`,
});

/** How BigQuery writes the public views. JSON is stored as text, because BigQuery's own type changes the last digits of some numbers. */
export const bigQueryViews: ViewFragments = {
  maxLabelBytes: 290,
  labelOf: (label) => nameOf(anyAscii(label.toWellFormed())),
  literal,
  state,
  moment: (path, document) => timestamp(state(path, document)),
  // A number after the quote that ends a status. Quotes and backslashes in a status are taken out first.
  rows: String.raw`(SELECT SUM(CAST(n AS INT64)) FROM UNNEST(REGEXP_EXTRACT_ALL(REPLACE(REPLACE(JSON_QUERY(s.state, '$.tally.rows'), '\\\\', ''), '\\"', ''), r'":(\d+)')) AS n)`,
  answersAsOf: `(SELECT CASE WHEN COUNT(JSON_VALUE(r, '$.readAtMs')) = COUNT(*) THEN ${timestamp("MIN(CAST(JSON_VALUE(r, '$.readAtMs') AS INT64))")} END
  FROM UNNEST(JSON_QUERY_ARRAY(s.state, '$.ranges')) AS r)`,
  fields: `SELECT s.form_id, nth + 1 AS place, JSON_VALUE(f, '$.id') AS field_id, JSON_VALUE(f, '$.column') AS column_name,
 JSON_VALUE(f, '$.textColumn') AS text_column, JSON_VALUE(f, '$.label') AS label, CAST(JSON_VALUE(f, '$.position') AS INT64) AS position,
 JSON_VALUE(f, '$.type') AS type, CAST(JSON_VALUE(f, '$.isInForm') AS BOOL) AS is_in_form
 FROM _mirror_state AS s CROSS JOIN UNNEST(JSON_QUERY_ARRAY(s.fields)) AS f WITH OFFSET AS nth`,
  labels: `SELECT s.form_id, JSON_VALUE(f, '$.id') AS field_id, nth, JSON_VALUE(l, '$.label') AS label,
 CAST(JSON_VALUE(l, '$.from') AS TIMESTAMP) AS valid_from FROM _mirror_state AS s CROSS JOIN UNNEST(JSON_QUERY_ARRAY(s.fields)) AS f
 CROSS JOIN UNNEST(JSON_QUERY_ARRAY(f, '$.labels')) AS l WITH OFFSET AS nth`,
  numberText: (column) => `CAST(${column} AS STRING)`,
  elementsOf,
  // A path in JSON is a constant.
  elementsInMore(more, names) {
    const cases = [...names].map(
      ([place, name]) => `WHEN ${place} THEN JSON_QUERY(${more}, '$.${nameOf(name)}')`,
    );
    return elementsOf(`CASE f.place ${cases.join(' ')} END`);
  },
  version(name, type) {
    const value = `JSON_VALUE(v.answers, '$.${nameOf(name)}')`;
    return type === 'number' ? `CAST(${value} AS FLOAT64)` : value;
  },
};

/** The answers of `t` in these columns, as JSON. */
export const answersOf = (names: readonly string[]): string =>
  `TO_JSON_STRING(STRUCT(${names.map((name) => `t.${quoted(name)} AS ${quoted(name)}`).join(', ')}))`;
