import { literal } from '../dialect.ts';
import type { Elements, ViewFragments } from '../views.ts';

/* Views that any shell can read. They use no functions of the mirror, and none newer than SQLite 3.38. */

/** The largest double. */
const LARGEST = '1.7976931348623157e308';

const iso = (ms: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${ms} / 1000.0, 'unixepoch')`;
const state = (path: string, document = 's.state'): string =>
  `json_extract(${document}, '$.${path}')`;
const field = (path: string): string => `json_extract(f.value, '$.${path}')`;

/** The column `value` rounds numbers; `->` has all their digits. */
const elements = (list: string): Elements => ({
  from: ` CROSS JOIN json_each(${list}) AS e`,
  index: 'e.key + 1',
  text: `CASE e.type WHEN 'text' THEN e.value WHEN 'null' THEN NULL ELSE e.json -> e.fullkey END`,
  number: `CASE WHEN e.type IN ('integer', 'real') THEN max(-${LARGEST}, min(${LARGEST}, e.value)) END`,
});

/** How SQLite writes the public views. */
export const sqliteViews: ViewFragments = {
  maxLabelBytes: 1_000,
  literal,
  state,
  moment: (path, document) => iso(state(path, document)),
  rows: `(SELECT sum(value) FROM json_each(s.state, '$.tally.rows'))`,
  answersAsOf: `(SELECT CASE WHEN count(json_extract(r.value, '$.readAtMs')) = count(*) THEN ${iso("min(json_extract(r.value, '$.readAtMs'))")} END
  FROM json_each(s.state, '$.ranges') AS r)`,
  fields: `SELECT s.form_id, f.key + 1 AS place, ${field('id')} AS field_id, ${field('column')} AS column_name,
 ${field('textColumn')} AS text_column, ${field('label')} AS label, ${field('position')} AS position, ${field('type')} AS type,
 ${field('isInForm')} AS is_in_form FROM _mirror_state AS s CROSS JOIN json_each(s.fields) AS f`,
  labels: `SELECT s.form_id, ${field('id')} AS field_id, l.key AS nth, json_extract(l.value, '$.label') AS label,
 json_extract(l.value, '$.from') AS valid_from
 FROM _mirror_state AS s, json_each(s.fields) AS f, json_each(f.value, '$.labels') AS l`,
  numberText: (column) => `CAST(${column} AS TEXT)`,
  elementsOf: (list) =>
    elements(`CASE WHEN ${list} LIKE '[%' AND json_valid(${list}) THEN ${list}
 WHEN (${list}) IS NOT NULL THEN json_array(${list}) END`),
  elementsInMore: (more) =>
    elements(`(SELECT CASE WHEN a.json LIKE '[%' THEN a.json ELSE '[' || a.json || ']' END
 FROM (SELECT CASE WHEN json_valid(${more}) THEN ${more} -> f.column_name END AS json) AS a)`),
  version: (name) => `json_extract(v.answers, ${literal(`$."${name}"`)})`,
};
